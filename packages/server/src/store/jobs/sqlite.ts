/** Jobs in SQLite. A batch's starts and the cursor are one unit of the writer: both are stored, or neither. */

import type { DatabaseSync } from "node:sqlite";
import { JOB_ERRORS_MAX, type Job, type JobAdvanceParams, type JobItemsAddParams, type JobStore, type NewJob } from "../contract/index.ts";
import { LeaseAllocation } from "../queue/policy/lease-allocation.ts";
import type { StartRuns } from "../runs/sqlite/start-runs.ts";
import type { GroupCommit } from "../sqlite/group-commit.ts";
import { addJobItems, advanceJob, advanceStored, beginJob, lastItems } from "./policy.ts";
import { type JobRow, toJob } from "./rows.ts";

export interface JobStoreParts {
  writer: GroupCommit;
  startRuns: StartRuns;
}

/** The work of writing a run: its row, its entry and their index entries. */
const ROWS_PER_START = 4;

export function jobStore(db: DatabaseSync, { writer, startRuns }: JobStoreParts): JobStore {
  const insertItems = db.prepare("INSERT INTO job_items (job_id, position, environment_id, items) VALUES (?, ?, ?, ?)");
  const insert = db.prepare(`
    INSERT INTO jobs (job_id, environment_id, kind, filter, function_id, status, total, rate, list_cursor, created_at, started_at, ended_at,
      leased_by, leased_until, series)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`);
  const addPage = db.prepare(
    "UPDATE jobs SET status = ?, total = ?, list_cursor = ?, errors = ?, started_at = ?, ended_at = ?, leased_until = ? WHERE job_id = ?",
  );
  const select = db.prepare("SELECT * FROM jobs WHERE job_id = ? AND environment_id = ?");
  const selectAnywhere = db.prepare("SELECT * FROM jobs WHERE job_id = ?");
  const open = db.prepare(`
    SELECT * FROM jobs INDEXED BY jobs_open WHERE ended_at IS NULL AND (leased_by IS NULL OR leased_by = ?1 OR leased_until <= ?2)
      AND (series IS NULL OR NOT EXISTS (
        SELECT 1 FROM jobs AS earlier INDEXED BY jobs_open
        WHERE earlier.ended_at IS NULL AND earlier.job_id < jobs.job_id AND earlier.environment_id = jobs.environment_id
          AND earlier.series = jobs.series))
    ORDER BY job_id`);
  const openInSeries = db.prepare(
    "SELECT 1 FROM jobs INDEXED BY jobs_open WHERE ended_at IS NULL AND environment_id = ? AND series = ? LIMIT 1",
  );
  const lease = db.prepare("UPDATE jobs SET leased_by = ?, leased_until = ? WHERE job_id = ?");
  const renew = db.prepare(
    "UPDATE jobs SET leased_until = ? WHERE job_id = ? AND environment_id = ? AND leased_by = ? AND ended_at IS NULL",
  );
  const run = db.prepare(
    "UPDATE jobs SET status = 'running', started_at = coalesce(started_at, ?) WHERE job_id = ? AND list_cursor IS NULL",
  );
  const items = db.prepare("SELECT position, items FROM job_items WHERE job_id = ? AND position < ? ORDER BY position DESC LIMIT 1");
  const write = db.prepare(
    "UPDATE jobs SET status = ?, done = ?, failed = ?, errors = ?, report = ?, tally = ?, started_at = ?, ended_at = ?, leased_until = ? WHERE job_id = ?",
  );
  const end = db.prepare("UPDATE jobs SET status = ?, errors = ?, ended_at = ? WHERE job_id = ?");
  const dropItems = db.prepare("DELETE FROM job_items WHERE job_id = ? AND position >= ?");
  const expire = db.prepare("DELETE FROM jobs WHERE job_id IN (SELECT job_id FROM jobs WHERE ended_at <= ? LIMIT ?)");

  function read(environmentId: number, id: string): Job | null {
    const row = select.get(id, environmentId) as JobRow | undefined;
    return row ? toJob(row) : null;
  }

  function find(environmentId: number, id: string): (Job & { leasedBy: string | null }) | null {
    const row = select.get(id, environmentId) as JobRow | undefined;
    return row ? { ...toJob(row), leasedBy: row.leased_by } : null;
  }

  function insertJob(job: NewJob): Job {
    const { id, environmentId, items: first, lease: taken } = job;
    const { status, startedAt, endedAt } = beginJob(job);
    insert.run(
      id,
      environmentId,
      job.kind,
      job.filter,
      job.functionId,
      status,
      first.length,
      job.rate,
      job.listCursor,
      job.createdAt,
      startedAt,
      endedAt,
      taken?.node ?? null,
      taken?.until ?? 0,
      job.series,
    );
    if (first.length > 0) insertItems.run(id, 0, environmentId, JSON.stringify(first));
    return read(environmentId, id) as Job;
  }

  function addItems(params: JobItemsAddParams): Job | null {
    const { id, environmentId, node, until, items: added, listCursor } = params;
    const job = find(environmentId, id);
    const next = job && job.leasedBy === node ? addJobItems(job, params) : null;
    if (!job || !next) return null;
    if (added.length > 0) insertItems.run(id, job.total, environmentId, JSON.stringify(added));
    addPage.run(next.status, next.total, listCursor, JSON.stringify(next.errors), next.startedAt, next.endedAt, until, id);
    return read(environmentId, id);
  }

  function advance(params: JobAdvanceParams): Job | null {
    const { id, environmentId, node, now, until } = params;
    const job = find(environmentId, id);
    const stored = params.starts.map(({ eventSequence }) => eventSequence).filter((sequence) => startRuns.isStored(sequence));
    const batch = advanceStored(params, new Set(stored));
    const next = job && job.leasedBy === node ? advanceJob(job, batch) : null;
    if (!job || !next) return null;
    const allocation = new LeaseAllocation(now, undefined);
    for (const { eventSequence, run } of batch.starts) startRuns.startForStored(allocation, environmentId, eventSequence, run);
    const [errors, tally] = [JSON.stringify(next.errors), JSON.stringify(next.tally)];
    write.run(next.status, next.done, next.failed, errors, next.report, tally, next.startedAt, next.endedAt, until, id);
    dropItems.run(id, next.itemsLeft);
    return read(environmentId, id);
  }

  function list({ environmentId, limit, after, status }: Parameters<JobStore["jobList"]>[0]) {
    const where = ["environment_id = ?", ...(after === undefined ? [] : ["job_id < ?"]), ...(status === undefined ? [] : ["status = ?"])];
    const values = [environmentId, ...(after === undefined ? [] : [after]), ...(status === undefined ? [] : [status])];
    const rows = db
      .prepare(`SELECT * FROM jobs INDEXED BY jobs_by_environment WHERE ${where.join(" AND ")} ORDER BY job_id DESC LIMIT ?`)
      .all(...values, limit + 1) as unknown as JobRow[];
    const jobs = rows.slice(0, limit).map(toJob);
    return { jobs, next: rows.length > limit ? (jobs.at(-1)?.id ?? null) : null };
  }

  return {
    jobInsert: (job) => writer.submit(() => insertJob(job)),
    jobItemsAdd: (params) => writer.submit(() => addItems(params)),
    jobGet: async ({ environmentId, id }) => read(environmentId, id),
    async jobFind({ environmentIds, id }) {
      const row = selectAnywhere.get(id) as JobRow | undefined;
      return row && (environmentIds as readonly number[]).includes(row.environment_id) ? toJob(row) : null;
    },
    jobList: async (params) => list(params),
    jobSeriesIsOpen: async ({ environmentId, series }) => openInSeries.get(environmentId, series) !== undefined,
    jobClaim: ({ node, now, until, except }) =>
      writer.submit(() => {
        const row = (open.all(node, now) as unknown as JobRow[]).find(({ job_id }) => !(except as readonly string[]).includes(job_id));
        if (!row) return null;
        lease.run(node, until, row.job_id);
        run.run(now, row.job_id);
        return toJob(select.get(row.job_id, row.environment_id) as unknown as JobRow);
      }),
    jobRenew: ({ environmentId, id, node, until }) => writer.submit(() => renew.run(until, id, environmentId, node).changes > 0),
    jobItems: async ({ id, before, limit }) =>
      lastItems(items.get(id, before) as { position: number; items: string } | undefined, before, limit),
    jobAdvance: (params) => writer.submit(() => advance(params), 1 + params.starts.length * ROWS_PER_START),
    jobEnd: ({ environmentId, id, status, now, error }) =>
      writer.submit(() => {
        const job = find(environmentId, id);
        if (!job) return null;
        if (job.endedAt === null) {
          end.run(status, JSON.stringify([...job.errors, ...(error ? [error] : [])].slice(0, JOB_ERRORS_MAX)), now, id);
          dropItems.run(id, 0);
        }
        const row = select.get(id, environmentId);
        return toJob(row as unknown as JobRow);
      }),
    jobExpireMany: ({ endedUntil, limit }) => writer.submit(() => Number(expire.run(endedUntil, limit).changes), limit),
  };
}

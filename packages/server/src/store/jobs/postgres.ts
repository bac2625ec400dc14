/** Jobs in PostgreSQL. A batch's starts and the cursor are written in one transaction, which locks the job's row. */

import type { EnvironmentId, JobId, RunNo } from "@inlet/protocol";
import type { PoolClient } from "pg";
import {
  JOB_ERRORS_MAX,
  type Job,
  type JobAdvanceParams,
  type JobItemsAddParams,
  type JobStart,
  type JobStore,
  type NewJob,
} from "../contract/index.ts";
import { keepEvents } from "../events/postgres/keep-events.ts";
import { Conditions } from "../postgres/conditions.ts";
import type { Database } from "../postgres/database.ts";
import { notFenced } from "../postgres/fenced.ts";
import { GroupWrites, type Notices } from "../postgres/group-writes.ts";
import { writeGathered } from "../postgres/write-group.ts";
import { LeaseAllocation } from "../queue/policy/lease-allocation.ts";
import { startRunForStored } from "../runs/postgres/start-runs.ts";
import { takeRunNumbers } from "../runs/postgres/take-run-numbers.ts";
import { addJobItems, advanceJob, advanceStored, beginJob, lastItems } from "./policy.ts";
import { type JobRow, toJob } from "./rows.ts";

export interface JobStoreParts {
  database: Database;
  notify(notices: Notices): void;
}

const FIND = "SELECT * FROM jobs WHERE environment_id = $1 AND job_id = $2";
const FIND_IN = "SELECT * FROM jobs WHERE environment_id = ANY ($1::integer[]) AND job_id = $2";
/** Nodes that claim at the same moment each get a different job. */
const CLAIM = `
  UPDATE jobs SET leased_by = $1, leased_until = $3, status = CASE WHEN list_cursor IS NULL THEN 'running' ELSE status END,
    started_at = CASE WHEN list_cursor IS NULL THEN coalesce(started_at, $2) ELSE started_at END
  WHERE (environment_id, job_id) = (
    SELECT environment_id, job_id FROM jobs
    WHERE ended_at IS NULL AND (leased_by IS NULL OR leased_by = $1 OR leased_until <= $2) AND job_id <> ALL ($4::text[])
      AND ${notFenced("environment_id")}
      AND (series IS NULL OR NOT EXISTS (
        SELECT FROM jobs AS earlier
        WHERE earlier.ended_at IS NULL AND earlier.job_id < jobs.job_id AND earlier.environment_id = jobs.environment_id
          AND earlier.series = jobs.series))
    ORDER BY job_id LIMIT 1 FOR UPDATE SKIP LOCKED)
  RETURNING *`;
const RENEW = `
  UPDATE jobs SET leased_until = $4 WHERE environment_id = $1 AND job_id = $2 AND leased_by = $3 AND ended_at IS NULL RETURNING 1`;
const WRITE = `
  UPDATE jobs SET status = $3, done = $4, failed = $5, errors = $6, report = $7, started_at = $8, ended_at = $9, leased_until = $10,
    tally = $11
  WHERE environment_id = $1 AND job_id = $2 RETURNING *`;
const END = "UPDATE jobs SET status = $3, errors = $4, ended_at = $5 WHERE environment_id = $1 AND job_id = $2 RETURNING *";
const INSERT = `
  INSERT INTO jobs (environment_id, job_id, kind, filter, function_id, status, total, rate, list_cursor, created_at, started_at, ended_at,
    leased_by, leased_until, series)
  VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15) RETURNING *`;
const INSERT_ITEMS = "INSERT INTO job_items (environment_id, job_id, position, items) VALUES ($1, $2, $3, $4)";
const ADD_PAGE = `
  UPDATE jobs SET status = $3, total = $4, list_cursor = $5, started_at = $6, ended_at = $7, leased_until = $8, errors = $9
  WHERE environment_id = $1 AND job_id = $2 RETURNING *`;
const SERIES_IS_OPEN = "SELECT FROM jobs WHERE ended_at IS NULL AND environment_id = $1 AND series = $2 LIMIT 1";
const ITEMS = `
  SELECT position, items FROM job_items WHERE environment_id = $1 AND job_id = $2 AND position < $3 ORDER BY position DESC LIMIT 1`;
const DROP_ITEMS = "DELETE FROM job_items WHERE environment_id = $1 AND job_id = $2 AND position >= $3";

export function jobStore({ database, notify }: JobStoreParts): JobStore {
  return {
    jobInsert: (job) => database.transaction((client) => insertJob(client, job)),
    jobItemsAdd: (params) => database.transaction((client) => addItems(client, params)),
    async jobGet({ environmentId, id }) {
      const [row] = await database.query<JobRow>(FIND, [environmentId, id]);
      return row ? toJob(row) : null;
    },
    async jobFind({ environmentIds, id }) {
      const [row] = await database.query<JobRow>(FIND_IN, [environmentIds, id]);
      return row ? toJob(row) : null;
    },
    jobList: (params) => listJobs(database, params),
    async jobSeriesIsOpen({ environmentId, series }) {
      return (await database.query(SERIES_IS_OPEN, [environmentId, series])).length > 0;
    },
    async jobClaim({ node, now, until, except }) {
      const [row] = await database.query<JobRow>(CLAIM, [node, now, until, except]);
      return row ? toJob(row) : null;
    },
    async jobRenew({ environmentId, id, node, until }) {
      return (await database.query(RENEW, [environmentId, id, node, until])).length > 0;
    },
    async jobItems({ id, environmentId, before, limit }) {
      const [row] = await database.query<{ position: number; items: string }>(ITEMS, [environmentId, id, before]);
      return lastItems(row, before, limit);
    },
    async jobAdvance(params) {
      const advanced = await database.transaction((client) => advance(client, params));
      if (!advanced) return null;
      notify(advanced.notices);
      return advanced.job;
    },
    jobEnd: ({ environmentId, id, status, now, error }) =>
      database.transaction(async (client) => {
        const job = await lockJob(client, environmentId, id);
        if (!job || job.endedAt !== null) return job;
        const errors = [...job.errors, ...(error ? [error] : [])].slice(0, JOB_ERRORS_MAX);
        const { rows } = await client.query<JobRow>(END, [environmentId, id, status, JSON.stringify(errors), now]);
        await client.query(DROP_ITEMS, [environmentId, id, 0]);
        return rows[0] ? toJob(rows[0]) : null;
      }),
    jobExpireMany: (params) => expireJobs(database, params),
  };
}

async function lockJob(client: PoolClient, environmentId: EnvironmentId, id: JobId): Promise<(Job & { leasedBy: string | null }) | null> {
  const { rows } = await client.query<JobRow>(`${FIND} FOR UPDATE`, [environmentId, id]);
  return rows[0] ? { ...toJob(rows[0]), leasedBy: rows[0].leased_by } : null;
}

async function insertJob(client: PoolClient, job: NewJob): Promise<Job> {
  const { id, environmentId, functionId, items, lease } = job;
  const { status, startedAt, endedAt } = beginJob(job);
  const { rows } = await client.query<JobRow>(INSERT, [
    environmentId,
    id,
    job.kind,
    job.filter,
    functionId,
    status,
    items.length,
    job.rate,
    job.listCursor,
    job.createdAt,
    startedAt,
    endedAt,
    lease?.node ?? null,
    lease?.until ?? 0,
    job.series,
  ]);
  if (items.length > 0) await client.query(INSERT_ITEMS, [environmentId, id, 0, JSON.stringify(items)]);
  return toJob(rows[0] as JobRow);
}

async function addItems(client: PoolClient, params: JobItemsAddParams): Promise<Job | null> {
  const { id, environmentId, node, until, items, listCursor } = params;
  const job = await lockJob(client, environmentId, id);
  const next = job && job.leasedBy === node ? addJobItems(job, params) : null;
  if (!job || !next) return null;
  if (items.length > 0) await client.query(INSERT_ITEMS, [environmentId, id, job.total, JSON.stringify(items)]);
  const values = [environmentId, id, next.status, next.total, listCursor, next.startedAt, next.endedAt, until, JSON.stringify(next.errors)];
  const { rows } = await client.query<JobRow>(ADD_PAGE, values);
  return toJob(rows[0] as JobRow);
}

async function advance(client: PoolClient, params: JobAdvanceParams): Promise<{ job: Job; notices: Notices } | null> {
  const { id, environmentId, node, now, until } = params;
  const job = await lockJob(client, environmentId, id);
  if (!job || job.leasedBy !== node) return null;
  const writes = new GroupWrites(client, environmentId);
  const sequences = params.starts.map(({ eventSequence }) => eventSequence);
  const batch = advanceStored(params, await keepEvents(writes, sequences));
  const next = advanceJob(job, batch);
  if (!next) return null;
  await startAll(writes, now, batch.starts);
  const [row] = await writes.rows<JobRow>(
    WRITE,
    environmentId,
    id,
    next.status,
    next.done,
    next.failed,
    JSON.stringify(next.errors),
    next.report,
    next.startedAt,
    next.endedAt,
    until,
    JSON.stringify(next.tally),
  );
  writes.send(DROP_ITEMS, environmentId, id, next.itemsLeft);
  await writes.settle();
  return row ? { job: toJob(row), notices: writes.notices } : null;
}

async function startAll(writes: GroupWrites, now: number, starts: readonly JobStart[]): Promise<void> {
  if (starts.length === 0) return;
  const allocation = new LeaseAllocation(now, undefined);
  const numbers = await takeRunNumbers(writes, starts.length);
  for (const [index, { eventSequence, run }] of starts.entries()) {
    startRunForStored(writes, allocation, numbers[index] as RunNo, eventSequence, run);
  }
  await writeGathered(writes);
}

async function listJobs(
  database: Database,
  { environmentId, limit, after, status }: Parameters<JobStore["jobList"]>[0],
): Promise<{ jobs: Job[]; next: JobId | null }> {
  const where = new Conditions();
  where.add("environment_id = ?", environmentId);
  if (after !== undefined) where.add("job_id < ?", after);
  if (status !== undefined) where.add("status = ?", status);
  const rows = await database.read<JobRow>(`SELECT * FROM jobs WHERE ${where.text} ORDER BY job_id DESC LIMIT ${limit + 1}`, where.values);
  const jobs = rows.slice(0, limit).map(toJob);
  return { jobs, next: rows.length > limit ? (jobs.at(-1)?.id ?? null) : null };
}

async function expireJobs(database: Database, { endedUntil, limit }: Parameters<JobStore["jobExpireMany"]>[0]): Promise<number> {
  const ended = await database.query(
    `DELETE FROM jobs WHERE (environment_id, job_id) IN (SELECT environment_id, job_id FROM jobs WHERE ended_at <= $1 LIMIT $2) RETURNING 1`,
    [endedUntil, limit],
    "maintenance",
  );
  return ended.length;
}

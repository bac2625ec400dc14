/** Reads and writes jobs and their items in SQLite. Each method that writes is called in a unit of the writer. */

import type { DatabaseSync } from "node:sqlite";
import type { EnvironmentId, JobId } from "@inlet/protocol";
import type { Job, JobAdvanceParams, JobItem, JobItemsAddParams, JobStore, NewJob } from "../../contract/index.ts";
import { LeaseAllocation } from "../../queue/policy/lease-allocation.ts";
import type { StartRuns } from "../../runs/sqlite/start-runs.ts";
import { addJobItems, advanceJob, advanceStored, beginJob, lastItems, withError } from "../policy.ts";
import { type JobRow, type LeasedJob, NEW_JOB_COLUMNS, newJobValues, toJob, toLeasedJob } from "../rows.ts";

export class JobRows {
  readonly #db: DatabaseSync;
  readonly #startRuns: StartRuns;
  readonly #insertItems;
  readonly #insert;
  readonly #writePage;
  readonly #select;
  readonly #selectAnywhere;
  readonly #open;
  readonly #openInSeries;
  readonly #lease;
  readonly #renew;
  readonly #run;
  readonly #items;
  readonly #write;
  readonly #end;
  readonly #dropItems;
  readonly #expire;

  constructor(db: DatabaseSync, startRuns: StartRuns) {
    this.#db = db;
    this.#startRuns = startRuns;
    this.#insertItems = db.prepare("INSERT INTO job_items (job_id, position, environment_id, items) VALUES (?, ?, ?, ?)");
    this.#insert = db.prepare(`
      INSERT INTO jobs (${NEW_JOB_COLUMNS.join(", ")}) VALUES (${NEW_JOB_COLUMNS.map(() => "?").join(", ")})`);
    this.#writePage = db.prepare(
      "UPDATE jobs SET status = ?, total = ?, list_cursor = ?, errors = ?, started_at = ?, ended_at = ?, leased_until = ? WHERE job_id = ?",
    );
    this.#select = db.prepare("SELECT * FROM jobs WHERE job_id = ? AND environment_id = ?");
    this.#selectAnywhere = db.prepare("SELECT * FROM jobs WHERE job_id = ?");
    this.#open = db.prepare(`
      SELECT * FROM jobs INDEXED BY jobs_open WHERE ended_at IS NULL AND (leased_by IS NULL OR leased_by = ?1 OR leased_until <= ?2)
        AND (series IS NULL OR NOT EXISTS (
          SELECT 1 FROM jobs AS earlier INDEXED BY jobs_open
          WHERE earlier.ended_at IS NULL AND earlier.job_id < jobs.job_id AND earlier.environment_id = jobs.environment_id
            AND earlier.series = jobs.series))
      ORDER BY job_id`);
    this.#openInSeries = db.prepare(
      "SELECT 1 FROM jobs INDEXED BY jobs_open WHERE ended_at IS NULL AND environment_id = ? AND series = ? LIMIT 1",
    );
    this.#lease = db.prepare("UPDATE jobs SET leased_by = ?, leased_until = ? WHERE job_id = ?");
    this.#renew = db.prepare(
      "UPDATE jobs SET leased_until = ? WHERE job_id = ? AND environment_id = ? AND leased_by = ? AND ended_at IS NULL",
    );
    this.#run = db.prepare(
      "UPDATE jobs SET status = 'running', started_at = coalesce(started_at, ?) WHERE job_id = ? AND list_cursor IS NULL",
    );
    this.#items = db.prepare("SELECT position, items FROM job_items WHERE job_id = ? AND position < ? ORDER BY position DESC LIMIT 1");
    this.#write = db.prepare(
      "UPDATE jobs SET status = ?, done = ?, failed = ?, errors = ?, report = ?, tally = ?, started_at = ?, ended_at = ?, leased_until = ? WHERE job_id = ?",
    );
    this.#end = db.prepare("UPDATE jobs SET status = ?, errors = ?, ended_at = ? WHERE job_id = ?");
    this.#dropItems = db.prepare("DELETE FROM job_items WHERE job_id = ? AND position >= ?");
    this.#expire = db.prepare(
      `DELETE FROM jobs WHERE job_id IN (
        SELECT job_id FROM jobs WHERE ended_at <= ?1 OR (scheduled = 1 AND ended_at <= ?2) LIMIT ?3)`,
    );
  }

  read(environmentId: number, id: string): Job | null {
    const row = this.#select.get(id, environmentId) as JobRow | undefined;
    return row ? toJob(row) : null;
  }

  #find(environmentId: number, id: string): LeasedJob | null {
    const row = this.#select.get(id, environmentId) as JobRow | undefined;
    return row ? toLeasedJob(row) : null;
  }

  insert(job: NewJob): Job {
    const { id, environmentId, items } = job;
    this.#insert.run(...newJobValues(job, beginJob(job)));
    if (items.length > 0) this.#insertItems.run(id, 0, environmentId, JSON.stringify(items));
    return this.read(environmentId, id) as Job;
  }

  addItems(params: JobItemsAddParams): Job | null {
    const { id, environmentId, node, until, items: added, listCursor } = params;
    const job = this.#find(environmentId, id);
    const next = job && job.leasedBy === node ? addJobItems(job, params) : null;
    if (!job || !next) return null;
    if (added.length > 0) this.#insertItems.run(id, job.total, environmentId, JSON.stringify(added));
    this.#writePage.run(next.status, next.total, listCursor, JSON.stringify(next.errors), next.startedAt, next.endedAt, until, id);
    return this.read(environmentId, id);
  }

  advance(params: JobAdvanceParams): Job | null {
    const { id, environmentId, node, now, until } = params;
    const job = this.#find(environmentId, id);
    const stored = params.starts.map(({ eventSequence }) => eventSequence).filter((sequence) => this.#startRuns.isStored(sequence));
    const batch = advanceStored(params, new Set(stored));
    const next = job && job.leasedBy === node ? advanceJob(job, batch) : null;
    if (!job || !next) return null;
    const allocation = new LeaseAllocation(now, undefined);
    for (const { eventSequence, run } of batch.starts) this.#startRuns.startForStored(allocation, environmentId, eventSequence, run);
    const [errors, tally] = [JSON.stringify(next.errors), JSON.stringify(next.tally)];
    this.#write.run(next.status, next.done, next.failed, errors, next.report, tally, next.startedAt, next.endedAt, until, id);
    this.#dropItems.run(id, next.itemsLeft);
    return this.read(environmentId, id);
  }

  list({ environmentId, limit, after, status, isScheduled }: Parameters<JobStore["jobList"]>[0]): Awaited<ReturnType<JobStore["jobList"]>> {
    const index = isScheduled === false ? "jobs_asked_for" : "jobs_by_environment";
    const conditions: [text: string, ...values: string[]][] = [
      ...(after === undefined ? [] : [["job_id < ?", after] as [string, string]]),
      ...(status === undefined ? [] : [["status = ?", status] as [string, string]]),
      ...(isScheduled === undefined ? [] : [[`scheduled = ${isScheduled ? 1 : 0}`] as [string]]),
    ];
    const where = ["environment_id = ?", ...conditions.map(([text]) => text)].join(" AND ");
    const rows = this.#db
      .prepare(`SELECT * FROM jobs INDEXED BY ${index} WHERE ${where} ORDER BY job_id DESC LIMIT ?`)
      .all(environmentId, ...conditions.flatMap(([, ...values]) => values), limit + 1) as unknown as JobRow[];
    const jobs = rows.slice(0, limit).map(toJob);
    return { jobs, next: rows.length > limit ? (jobs.at(-1)?.id ?? null) : null };
  }

  findIn(environmentIds: readonly EnvironmentId[], id: JobId): Job | null {
    const row = this.#selectAnywhere.get(id) as JobRow | undefined;
    return row && (environmentIds as readonly number[]).includes(row.environment_id) ? toJob(row) : null;
  }

  isOpenInSeries(environmentId: EnvironmentId, series: string): boolean {
    return this.#openInSeries.get(environmentId, series) !== undefined;
  }

  claim({ node, now, until, except, exceptKinds }: Parameters<JobStore["jobClaim"]>[0]): Job | null {
    const rows = this.#open.all(node, now) as unknown as JobRow[];
    const row = rows.find(({ job_id, kind }) => !(except as readonly string[]).includes(job_id) && !exceptKinds.includes(kind));
    if (!row) return null;
    this.#lease.run(node, until, row.job_id);
    this.#run.run(now, row.job_id);
    return toJob(this.#select.get(row.job_id, row.environment_id) as unknown as JobRow);
  }

  renew({ environmentId, id, node, until }: Parameters<JobStore["jobRenew"]>[0]): boolean {
    return this.#renew.run(until, id, environmentId, node).changes > 0;
  }

  lastItems({ id, before, limit }: Parameters<JobStore["jobItems"]>[0]): readonly JobItem[] {
    return lastItems(this.#items.get(id, before) as { position: number; items: string } | undefined, before, limit);
  }

  end({ environmentId, id, status, now, error }: Parameters<JobStore["jobEnd"]>[0]): Job | null {
    const job = this.#find(environmentId, id);
    if (!job) return null;
    if (job.endedAt === null) {
      this.#end.run(status, JSON.stringify(withError(job, error)), now, id);
      this.#dropItems.run(id, 0);
    }
    return this.read(environmentId, id);
  }

  expireMany({ endedUntil, scheduledUntil, limit }: Parameters<JobStore["jobExpireMany"]>[0]): number {
    return Number(this.#expire.run(endedUntil, scheduledUntil, limit).changes);
  }
}

/** Jobs in PostgreSQL. A batch's starts and the cursor are one transaction, which holds the job's row. */

import type { EnvironmentId, JobId, RunNo } from "@inlet/protocol";
import type { PoolClient } from "pg";
import {
  fromStoreText,
  JOB_ERRORS_MAX,
  type Job,
  type JobAdvanceParams,
  type JobItem,
  type JobStart,
  type JobStore,
  toStoreText,
} from "../../contract/index.ts";
import { advanceJob, itemPosition } from "../../policy/advance-job.ts";
import { LeaseAllocation } from "../../policy/lease-allocation.ts";
import { type JobRow, toJob } from "../../rows/job-rows.ts";
import { Conditions } from "../conditions.ts";
import type { Database } from "../database.ts";
import { takeNumbers } from "../events/take-numbers.ts";
import { GroupWrites, type News } from "../group-writes.ts";
import { LANES_LOCK, LockSet } from "../locks.ts";
import { startRunForStored } from "../runs/start-runs.ts";
import { writeGathered } from "../write-group.ts";

export interface JobStoreParts {
  database: Database;
  notify(news: News): void;
}

const FIND = "SELECT * FROM jobs WHERE environment_id = $1 AND job_id = $2";
/** Of nodes that claim at the same moment each gets another one. */
const CLAIM = `
  UPDATE jobs SET leased_by = $1, leased_until = $3, status = 'running', started_at = coalesce(started_at, $2)
  WHERE (environment_id, job_id) = (
    SELECT environment_id, job_id FROM jobs
    WHERE ended_at IS NULL AND (leased_by IS NULL OR leased_by = $1 OR leased_until <= $2) AND job_id <> ALL ($4::text[])
    ORDER BY job_id LIMIT 1 FOR UPDATE SKIP LOCKED)
  RETURNING *`;
const WRITE = `
  UPDATE jobs SET status = $3, done = $4, failed = $5, errors = $6, started_at = $7, ended_at = $8, leased_until = $9
  WHERE environment_id = $1 AND job_id = $2 RETURNING *`;
const END = "UPDATE jobs SET status = $3, errors = $4, ended_at = $5 WHERE environment_id = $1 AND job_id = $2 RETURNING *";
const DROP_ITEMS = "DELETE FROM job_items WHERE environment_id = $1 AND job_id = $2 AND chunk < $3";
const ALL_CHUNKS = 2 ** 31 - 1;

export function jobStore({ database, notify }: JobStoreParts): JobStore {
  return {
    async jobItemsInsert({ id, environmentId, chunk, items }) {
      const text = "INSERT INTO job_items (environment_id, job_id, chunk, items) VALUES ($1, $2, $3, $4)";
      await database.query(text, [environmentId, id, chunk, JSON.stringify(items)]);
    },
    async jobInsert({ id, environmentId, kind, filter, functionId, total, rate, createdAt }) {
      const endedAt = total === 0 ? createdAt : null;
      await database.query(
        `INSERT INTO jobs (environment_id, job_id, kind, filter, function_id, status, total, rate, created_at, started_at, ended_at)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $10)`,
        [
          ...[environmentId, id, kind, filter, functionId === null ? null : toStoreText(functionId)],
          ...[total === 0 ? "completed" : "queued", total, rate, createdAt, endedAt],
        ],
      );
    },
    async jobGet({ environmentId, id }) {
      const [row] = await database.query<JobRow>(FIND, [environmentId, id]);
      return row ? readJob(row) : null;
    },
    jobList: (params) => listJobs(database, params),
    async jobClaim({ node, now, until, except }) {
      const [row] = await database.query<JobRow>(CLAIM, [node, now, until, except]);
      return row ? readJob(row) : null;
    },
    async jobItems({ id, environmentId, after, limit }) {
      const { chunk, offset } = itemPosition(after);
      const text = "SELECT items FROM job_items WHERE environment_id = $1 AND job_id = $2 AND chunk = $3";
      const [row] = await database.query<{ items: string }>(text, [environmentId, id, chunk]);
      return row ? (JSON.parse(row.items) as JobItem[]).slice(offset, offset + limit) : [];
    },
    async jobAdvance(params) {
      const advanced = await database.transaction((client) => advance(client, params));
      if (!advanced) return null;
      notify(advanced.news);
      return advanced.job;
    },
    jobEnd: ({ environmentId, id, status, now, error }) =>
      database.transaction(async (client) => {
        const job = await lockJob(client, environmentId, id);
        if (!job || job.endedAt !== null) return job;
        const errors = [...job.errors, ...(error ? [error] : [])].slice(0, JOB_ERRORS_MAX);
        const { rows } = await client.query<JobRow>(END, [environmentId, id, status, JSON.stringify(errors), now]);
        await client.query(DROP_ITEMS, [environmentId, id, ALL_CHUNKS]);
        return rows[0] ? readJob(rows[0]) : null;
      }),
    jobExpireMany: (params) => expireJobs(database, params),
  };
}

async function lockJob(client: PoolClient, environmentId: EnvironmentId, id: JobId): Promise<(Job & { leasedBy: string | null }) | null> {
  const { rows } = await client.query<JobRow>(`${FIND} FOR UPDATE`, [environmentId, id]);
  return rows[0] ? { ...readJob(rows[0]), leasedBy: rows[0].leased_by } : null;
}

async function advance(client: PoolClient, params: JobAdvanceParams): Promise<{ job: Job; news: News } | null> {
  const { id, environmentId, node, now, until, starts } = params;
  const job = await lockJob(client, environmentId, id);
  const next = job && job.leasedBy === node ? advanceJob(job, params) : null;
  if (!next) return null;
  const writes = new GroupWrites(client, environmentId);
  await startAll(writes, now, starts);
  const [row] = await writes.rows<JobRow>(
    WRITE,
    ...[environmentId, id, next.status, next.done, next.failed, JSON.stringify(next.errors), next.startedAt, next.endedAt, until],
  );
  writes.send(DROP_ITEMS, environmentId, id, Math.min(next.chunksDone, ALL_CHUNKS));
  await writes.settle();
  return row ? { job: readJob(row), news: writes.news } : null;
}

async function startAll(writes: GroupWrites, now: number, starts: readonly JobStart[]): Promise<void> {
  if (starts.length === 0) return;
  const allocation = new LeaseAllocation(now, undefined);
  const { runs: numbers } = await takeNumbers(writes, { events: 0, runs: starts.length });
  for (const [index, { eventSequence, run }] of starts.entries()) {
    startRunForStored(writes, allocation, numbers[index] as RunNo, eventSequence, run);
  }
  const locks = new LockSet();
  locks.add(LANES_LOCK, "shared");
  locks.send(writes);
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
  const rows = await database.query<JobRow>(`SELECT * FROM jobs WHERE ${where.text} ORDER BY job_id DESC LIMIT ${limit + 1}`, where.values);
  const jobs = rows.slice(0, limit).map(readJob);
  return { jobs, next: rows.length > limit ? (jobs.at(-1)?.id ?? null) : null };
}

async function expireJobs(
  database: Database,
  { endedUntil, abandonedUntil, limit }: Parameters<JobStore["jobExpireMany"]>[0],
): Promise<number> {
  const ended = await database.query(
    `DELETE FROM jobs WHERE (environment_id, job_id) IN (SELECT environment_id, job_id FROM jobs WHERE ended_at <= $1 LIMIT $2) RETURNING 1`,
    [endedUntil, limit],
  );
  const abandoned = await database.query(
    `DELETE FROM job_items WHERE (environment_id, job_id, chunk) IN (
       SELECT environment_id, job_id, chunk FROM job_items AS i
       WHERE job_id < $1 AND NOT EXISTS (SELECT 1 FROM jobs AS j WHERE j.environment_id = i.environment_id AND j.job_id = i.job_id) LIMIT $2)
     RETURNING 1`,
    [abandonedUntil, limit],
  );
  return ended.length + abandoned.length;
}

function readJob(row: JobRow): Job {
  return toJob({ ...row, function_id: row.function_id === null ? null : fromStoreText(row.function_id) });
}

/** Writes jobs and their items in PostgreSQL: each function in a transaction of its own, which locks the job's row. */

import type { EnvironmentId, JobId, RunNo } from "@inlet/protocol";
import type { PoolClient } from "pg";
import type { Job, JobAdvanceParams, JobItemsAddParams, JobStart, JobStore, NewJob } from "../../contract/index.ts";
import { keepEvents } from "../../events/postgres/keep-events.ts";
import { flushWrites } from "../../postgres/flush-writes.ts";
import { type Notices, PendingWrites } from "../../postgres/pending-writes.ts";
import { LeaseAllocation } from "../../queue/policy/lease-allocation.ts";
import { startRunForStored } from "../../runs/postgres/start-runs.ts";
import { takeRunNumbers } from "../../runs/postgres/take-run-numbers.ts";
import { addJobItems, advanceJob, advanceStored, beginJob, withError } from "../policy.ts";
import { type JobRow, type LeasedJob, NEW_JOB_COLUMNS, newJobValues, toJob, toLeasedJob } from "../rows.ts";

export const FIND = "SELECT * FROM jobs WHERE environment_id = $1 AND job_id = $2";
const WRITE = `
  UPDATE jobs SET status = $3, done = $4, failed = $5, errors = $6, report = $7, started_at = $8, ended_at = $9, leased_until = $10,
    tally = $11
  WHERE environment_id = $1 AND job_id = $2 RETURNING *`;
const END = "UPDATE jobs SET status = $3, errors = $4, ended_at = $5 WHERE environment_id = $1 AND job_id = $2 RETURNING *";
const INSERT = `
  INSERT INTO jobs (${NEW_JOB_COLUMNS.join(", ")}) VALUES (${NEW_JOB_COLUMNS.map((_, index) => `$${index + 1}`).join(", ")}) RETURNING *`;
const INSERT_ITEMS = "INSERT INTO job_items (environment_id, job_id, position, items) VALUES ($1, $2, $3, $4)";
const ADD_PAGE = `
  UPDATE jobs SET status = $3, total = $4, list_cursor = $5, started_at = $6, ended_at = $7, leased_until = $8, errors = $9
  WHERE environment_id = $1 AND job_id = $2 RETURNING *`;
const DROP_ITEMS = "DELETE FROM job_items WHERE environment_id = $1 AND job_id = $2 AND position >= $3";

async function lockJob(client: PoolClient, environmentId: EnvironmentId, id: JobId): Promise<LeasedJob | null> {
  const { rows } = await client.query<JobRow>(`${FIND} FOR UPDATE`, [environmentId, id]);
  return rows[0] ? toLeasedJob(rows[0]) : null;
}

export async function insertJob(client: PoolClient, job: NewJob): Promise<Job> {
  const { id, environmentId, items } = job;
  const { rows } = await client.query<JobRow>(INSERT, newJobValues(job, beginJob(job)));
  if (items.length > 0) await client.query(INSERT_ITEMS, [environmentId, id, 0, JSON.stringify(items)]);
  return toJob(rows[0] as JobRow);
}

export async function addItems(client: PoolClient, params: JobItemsAddParams): Promise<Job | null> {
  const { id, environmentId, node, until, items, listCursor } = params;
  const job = await lockJob(client, environmentId, id);
  const next = job && job.leasedBy === node ? addJobItems(job, params) : null;
  if (!job || !next) return null;
  if (items.length > 0) await client.query(INSERT_ITEMS, [environmentId, id, job.total, JSON.stringify(items)]);
  const values = [environmentId, id, next.status, next.total, listCursor, next.startedAt, next.endedAt, until, JSON.stringify(next.errors)];
  const { rows } = await client.query<JobRow>(ADD_PAGE, values);
  return toJob(rows[0] as JobRow);
}

export async function advance(client: PoolClient, params: JobAdvanceParams): Promise<{ job: Job; notices: Notices } | null> {
  const { id, environmentId, node, now, until } = params;
  const job = await lockJob(client, environmentId, id);
  if (!job || job.leasedBy !== node) return null;
  const writes = new PendingWrites(client, environmentId);
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

export async function endJob(
  client: PoolClient,
  { environmentId, id, status, now, error }: Parameters<JobStore["jobEnd"]>[0],
): Promise<Job | null> {
  const job = await lockJob(client, environmentId, id);
  if (!job || job.endedAt !== null) return job;
  const { rows } = await client.query<JobRow>(END, [environmentId, id, status, JSON.stringify(withError(job, error)), now]);
  await client.query(DROP_ITEMS, [environmentId, id, 0]);
  return rows[0] ? toJob(rows[0]) : null;
}

async function startAll(writes: PendingWrites, now: number, starts: readonly JobStart[]): Promise<void> {
  if (starts.length === 0) return;
  const allocation = new LeaseAllocation(now, undefined);
  const numbers = await takeRunNumbers(writes, starts.length);
  for (const [index, { eventSequence, run }] of starts.entries()) {
    startRunForStored(writes, allocation, numbers[index] as RunNo, eventSequence, run);
  }
  await flushWrites(writes);
}

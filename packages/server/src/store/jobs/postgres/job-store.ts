/** Jobs in PostgreSQL. A batch's starts and the cursor are written in one transaction, which locks the job's row. */

import type { JobId } from "@inlet/protocol";
import type { Job, JobStore } from "../../contract/index.ts";
import { Conditions } from "../../postgres/conditions.ts";
import type { Database } from "../../postgres/database.ts";
import { notFenced } from "../../postgres/fenced.ts";
import type { Notices } from "../../postgres/pending-writes.ts";
import { lastItems } from "../policy.ts";
import { type JobRow, toJob } from "../rows.ts";
import { addItems, advance, endJob, FIND, insertJob } from "./job-rows.ts";

export interface JobStoreParts {
  database: Database;
  notify(notices: Notices): void;
}

const FIND_IN = "SELECT * FROM jobs WHERE environment_id = ANY ($1::integer[]) AND job_id = $2";
/** Nodes that claim at the same moment each get a different job. */
const CLAIM = `
  UPDATE jobs SET leased_by = $1, leased_until = $3, status = CASE WHEN list_cursor IS NULL THEN 'running' ELSE status END,
    started_at = CASE WHEN list_cursor IS NULL THEN coalesce(started_at, $2) ELSE started_at END
  WHERE (environment_id, job_id) = (
    SELECT environment_id, job_id FROM jobs
    WHERE ended_at IS NULL AND (leased_by IS NULL OR leased_by = $1 OR leased_until <= $2) AND job_id <> ALL ($4::text[]) AND kind <> ALL ($5::text[])
      AND ${notFenced("environment_id")}
      AND (series IS NULL OR NOT EXISTS (
        SELECT FROM jobs AS earlier
        WHERE earlier.ended_at IS NULL AND earlier.job_id < jobs.job_id AND earlier.environment_id = jobs.environment_id
          AND earlier.series = jobs.series))
    ORDER BY job_id LIMIT 1 FOR UPDATE SKIP LOCKED)
  RETURNING *`;
const RENEW = `
  UPDATE jobs SET leased_until = $4 WHERE environment_id = $1 AND job_id = $2 AND leased_by = $3 AND ended_at IS NULL RETURNING 1`;
const SERIES_IS_OPEN = "SELECT FROM jobs WHERE ended_at IS NULL AND environment_id = $1 AND series = $2 LIMIT 1";
const ITEMS = `
  SELECT position, items FROM job_items WHERE environment_id = $1 AND job_id = $2 AND position < $3 ORDER BY position DESC LIMIT 1`;

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
    async jobClaim({ node, now, until, except, exceptKinds }) {
      const [row] = await database.query<JobRow>(CLAIM, [node, now, until, except, exceptKinds]);
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
    jobEnd: (params) => database.transaction((client) => endJob(client, params)),
    jobExpireMany: (params) => expireJobs(database, params),
  };
}

async function listJobs(
  database: Database,
  { environmentId, limit, after, status, isScheduled }: Parameters<JobStore["jobList"]>[0],
): Promise<{ jobs: Job[]; next: JobId | null }> {
  const where = new Conditions();
  where.add("environment_id = ?", environmentId);
  if (after !== undefined) where.add("job_id < ?", after);
  if (status !== undefined) where.add("status = ?", status);
  // As a literal: the partial index is found by it.
  const scheduled = isScheduled === undefined ? "" : ` AND scheduled = ${isScheduled ? 1 : 0}`;
  const rows = await database.read<JobRow>(
    `SELECT * FROM jobs WHERE ${where.text}${scheduled} ORDER BY job_id DESC LIMIT ${limit + 1}`,
    where.values,
  );
  const jobs = rows.slice(0, limit).map(toJob);
  return { jobs, next: rows.length > limit ? (jobs.at(-1)?.id ?? null) : null };
}

async function expireJobs(
  database: Database,
  { endedUntil, scheduledUntil, limit }: Parameters<JobStore["jobExpireMany"]>[0],
): Promise<number> {
  const ended = await database.query(
    `DELETE FROM jobs WHERE (environment_id, job_id) IN (
       SELECT environment_id, job_id FROM jobs WHERE ended_at <= $1 OR (scheduled = 1 AND ended_at <= $2) LIMIT $3) RETURNING 1`,
    [endedUntil, scheduledUntil, limit],
    "maintenance",
  );
  return ended.length;
}

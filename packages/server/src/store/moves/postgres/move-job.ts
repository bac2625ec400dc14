/** The job of a move: a row in the environment, which shows the move to people, and moves with it. */

import type { Database } from "../../postgres/database.ts";
import { MOVE_LEASE_HOLDER } from "../contract.ts";
import { FOREVER, type MoveSide, NOW } from "./move-parts.ts";

const INSERT = `
  INSERT INTO jobs (environment_id, job_id, kind, filter, status, total, rate, created_at, started_at, leased_by, leased_until)
  VALUES ($1, $2, 'environments.move', $3, 'running', 0, 1, $4, $4, '${MOVE_LEASE_HOLDER}', ${FOREVER}) ON CONFLICT DO NOTHING`;
const END = `
  UPDATE jobs SET status = $3, ended_at = ${NOW}, errors = $4 WHERE environment_id = $1 AND job_id = $2 AND ended_at IS NULL`;

export interface MoveJob {
  status: string;
  total: number;
  done: number;
}

/** Idempotent. */
export async function insertMoveJob(
  database: Database,
  { environmentId, jobId, filter, beganAt }: Pick<MoveSide, "environmentId" | "jobId"> & { filter: string; beganAt: number },
): Promise<void> {
  await database.query(INSERT, [environmentId, jobId, filter, beganAt]);
}

export async function readMoveJob({ database, environmentId, jobId }: MoveSide): Promise<MoveJob | null> {
  const text = "SELECT status, total, done FROM jobs WHERE environment_id = $1 AND job_id = $2";
  return (await database.query<MoveJob>(text, [environmentId, jobId]))[0] ?? null;
}

/** `total`: absent, it stays. What is done never exceeds it: rows that came later count as found. */
export async function noteProgress({ database, environmentId, jobId }: MoveSide, done: number, total: number | null = null): Promise<void> {
  await database.query(
    `UPDATE jobs SET done = $3, total = greatest($3, coalesce($4, total)) WHERE environment_id = $1 AND job_id = $2 AND ended_at IS NULL`,
    [environmentId, jobId, done, total],
  );
}

export async function failMoveJob({ database, environmentId, jobId }: MoveSide, message: string): Promise<void> {
  await database.query(END, [environmentId, jobId, "failed", JSON.stringify([{ item: null, message }])]);
}

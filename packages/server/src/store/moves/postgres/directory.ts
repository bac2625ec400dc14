/** Moves as the directory records them. Everything that decides about one is a transaction here. */

import type { EnvironmentId, JobId } from "@inlet/protocol";
import type { Database } from "../../postgres/database.ts";
import { CHANNEL } from "../../postgres/nodes/announce.ts";
import type { EnvironmentMove, EnvironmentMoveInsertParams, MoveState } from "../contract.ts";
import { MoveLost, NOW } from "./move-parts.ts";

export interface MoveRow {
  environment_id: number;
  job_id: string;
  from_no: number;
  to_no: number;
  state: MoveState;
  filter: string;
  began_at: number;
  switched_at: number | null;
  error: string | null;
  failures: number;
  next_at: number;
  epoch: number;
}

const INSERT = `
  INSERT INTO environment_moves (environment_id, job_id, from_no, to_no, state, filter, began_at, next_at)
  SELECT environment_id, $2, database_no, $3, 'moving', $4, $5, 0 FROM environments WHERE environment_id = $1 AND database_no <> $3
  ON CONFLICT DO NOTHING RETURNING *`;
/** Nodes that claim at the same moment each get a different one. */
const CLAIM = `
  UPDATE environment_moves SET leased_by = $1, leased_until = $3, epoch = epoch + CASE WHEN leased_by = $1 THEN 0 ELSE 1 END
  WHERE (environment_id, job_id) = (
    SELECT environment_id, job_id FROM environment_moves
    WHERE state <> 'ended' AND next_at <= $2 AND (leased_by IS NULL OR leased_by = $1 OR leased_until <= $2)
    ORDER BY next_at, job_id LIMIT 1 FOR UPDATE SKIP LOCKED)
  RETURNING *`;
const OWN = "environment_id = $1 AND job_id = $2 AND epoch = $3";

export async function insertMove(directory: Database, params: EnvironmentMoveInsertParams): Promise<MoveRow | null> {
  const { environmentId, jobId, to, filter, now } = params;
  return (await directory.query<MoveRow>(INSERT, [environmentId, jobId, to, filter, now]))[0] ?? null;
}

/** A move whose job could not be stored: nothing was begun. */
export async function withdrawMove(directory: Database, { environment_id, job_id, epoch }: MoveRow): Promise<void> {
  await directory.query(`DELETE FROM environment_moves WHERE ${OWN}`, [environment_id, job_id, epoch]);
}

export async function listMoves(directory: Database): Promise<EnvironmentMove[]> {
  return (await directory.query<MoveRow>("SELECT * FROM environment_moves WHERE state <> 'ended' ORDER BY job_id")).map(toMove);
}

export async function claimMove(directory: Database, params: { node: string; now: number; until: number }): Promise<MoveRow | null> {
  return (await directory.query<MoveRow>(CLAIM, [params.node, params.now, params.until]))[0] ?? null;
}

export async function renewMove(directory: Database, { environment_id, job_id, epoch }: MoveRow, until: number): Promise<void> {
  await directory.query(`UPDATE environment_moves SET leased_until = $4 WHERE ${OWN}`, [environment_id, job_id, epoch, until]);
}

/** Throws MoveLost if another node took over. */
export async function noteMove(
  directory: Database,
  { environment_id, job_id, epoch }: MoveRow,
  changes: Partial<Pick<MoveRow, "state" | "error" | "failures" | "next_at">>,
): Promise<MoveRow> {
  const columns = Object.entries(changes);
  const sets = columns.map(([name], n) => `${name} = $${n + 4}`).join(", ");
  const values = [environment_id, job_id, epoch, ...columns.map(([, value]) => value)];
  const [row] = await directory.query<MoveRow>(`UPDATE environment_moves SET ${sets} WHERE ${OWN} RETURNING *`, values);
  if (!row) throw new MoveLost("another node works on the move");
  return row;
}

/** The environment is in its new database from the commit on, and every node is told. */
export function switchEnvironment(directory: Database, { environment_id, job_id, epoch, from_no, to_no }: MoveRow): Promise<void> {
  return directory.transaction(async (client) => {
    const { rowCount: own } = await client.query(
      `UPDATE environment_moves SET state = 'switched', switched_at = ${NOW} WHERE ${OWN} AND state = 'moving'`,
      [environment_id, job_id, epoch],
    );
    if (own === 0) throw new MoveLost("another node works on the move");
    const text = "UPDATE environments SET database_no = $3 WHERE environment_id = $1 AND database_no = $2";
    const { rowCount: switched } = await client.query(text, [environment_id, from_no, to_no]);
    if (switched === 0) throw new Error("the environment is not where its move began");
    await client.query("SELECT pg_notify($1, $2)", [CHANNEL, "moves directory"]);
  });
}

export async function readMove(directory: Database, { environment_id, job_id }: MoveRow): Promise<MoveRow | null> {
  const text = "SELECT * FROM environment_moves WHERE environment_id = $1 AND job_id = $2";
  return (await directory.query<MoveRow>(text, [environment_id, job_id]))[0] ?? null;
}

export function toMove(row: MoveRow): EnvironmentMove {
  return {
    environmentId: row.environment_id as EnvironmentId,
    jobId: row.job_id as JobId,
    from: row.from_no,
    to: row.to_no,
    state: row.state,
    beganAt: row.began_at,
  };
}

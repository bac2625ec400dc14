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

/** It ends, unless it is begun before `next_at`. */
const INSERT = `
  INSERT INTO environment_moves (environment_id, job_id, from_no, to_no, state, filter, began_at, next_at, error)
  SELECT environment_id, $2, database_no, $3, 'aborting', $4, $5, $6, $7 FROM environments WHERE environment_id = $1 AND database_no <> $3
  ON CONFLICT DO NOTHING RETURNING *`;
/** A node that sends heartbeats has read of a switch by then, even without its notification: by its poll. */
const HEARD_MS = 10_000;
/**
 * A move back waits for nodes that may not have heard of the move there: their writes in the old place are refused, and would not be any
 * more once the environment arrives there. What a node knew before the fence began is too old to be used.
 */
const MUST_WAIT = `
  EXISTS (SELECT FROM environment_moves AS earlier
    JOIN nodes ON last_seen_at BETWEEN earlier.switched_at - $4::bigint AND earlier.switched_at + ${HEARD_MS}
    WHERE earlier.environment_id = m.environment_id AND earlier.from_no = m.to_no AND earlier.switched_at > $2 - $4::bigint)`;
/** Nodes that claim at the same moment each get a different one. */
const CLAIM = `
  UPDATE environment_moves SET leased_by = $1, leased_until = $3, epoch = epoch + CASE WHEN leased_by = $1 THEN 0 ELSE 1 END
  WHERE (environment_id, job_id) = (
    SELECT environment_id, job_id FROM environment_moves AS m
    WHERE state <> 'ended' AND next_at <= $2 AND (leased_by IS NULL OR leased_by = $1 OR leased_until <= $2)
      AND NOT (state = 'moving' AND ${MUST_WAIT})
    ORDER BY next_at, job_id LIMIT 1 FOR UPDATE SKIP LOCKED)
  RETURNING *`;
const OWN = "environment_id = $1 AND job_id = $2 AND epoch = $3";

/** `beginMs`: how long it may take until it is begun; after that it ends with `error`. */
export async function insertMove(
  directory: Database,
  { environmentId, jobId, to, filter, now, beginMs, error }: EnvironmentMoveInsertParams & { beginMs: number; error: string },
): Promise<MoveRow | null> {
  return (await directory.query<MoveRow>(INSERT, [environmentId, jobId, to, filter, now, now + beginMs, error]))[0] ?? null;
}

export async function listMoves(directory: Database): Promise<EnvironmentMove[]> {
  return (await directory.query<MoveRow>("SELECT * FROM environment_moves WHERE state <> 'ended' ORDER BY job_id")).map(toMove);
}

/** `fenceMs`: how long after a switch writes in the old place are refused. */
export async function claimMove(
  directory: Database,
  { node, now, until, fenceMs }: { node: string; now: number; until: number; fenceMs: number },
): Promise<MoveRow | null> {
  return (await directory.query<MoveRow>(CLAIM, [node, now, until, fenceMs]))[0] ?? null;
}

export async function renewMove(directory: Database, { environment_id, job_id, epoch }: MoveRow, until: number): Promise<void> {
  await directory.query(`UPDATE environment_moves SET leased_until = $4 WHERE ${OWN}`, [environment_id, job_id, epoch, until]);
}

/** Throws MoveLost if another node took over, or if a move that has switched is to be aborted: the response to the switch may have been lost. */
export async function noteMove(
  directory: Database,
  { environment_id, job_id, epoch }: MoveRow,
  changes: Partial<Pick<MoveRow, "state" | "error" | "failures" | "next_at">>,
): Promise<MoveRow> {
  const columns = Object.entries(changes);
  const sets = columns.map(([name], n) => `${name} = $${n + 4}`).join(", ");
  const values = [environment_id, job_id, epoch, ...columns.map(([, value]) => value)];
  const condition = changes.state === "aborting" ? `${OWN} AND switched_at IS NULL` : OWN;
  const [row] = await directory.query<MoveRow>(`UPDATE environment_moves SET ${sets} WHERE ${condition} RETURNING *`, values);
  if (!row) throw new MoveLost("another node works on the move, or it has switched");
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

/** The number of the database where an environment is. */
export async function readPlace(directory: Database, environmentId: EnvironmentId): Promise<number | undefined> {
  const text = "SELECT database_no AS no FROM environments WHERE environment_id = $1";
  return (await directory.query<{ no: number }>(text, [environmentId]))[0]?.no;
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

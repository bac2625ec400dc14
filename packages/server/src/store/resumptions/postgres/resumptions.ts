/** The rows of what is left of matching events with waits. */

import type { EnvironmentId, StepId } from "@inlet/protocol";
import type { ResumptionKey, RunKey } from "../../contract/index.ts";
import type { Database } from "../../postgres/database.ts";
import { notFenced } from "../../postgres/fenced.ts";
import type { PendingWrites } from "../../postgres/pending-writes.ts";
import type { SeenEvent } from "../../waits/policy.ts";

const PENDING = "SELECT DISTINCT event_name FROM resumptions WHERE environment_id = $1 AND event_name = ANY ($2::text[])";
const PENDING_WAIT = `
  SELECT FROM waits AS w WHERE w.environment_id = $1 AND w.run_no = $2 AND w.step_id = $3 AND w.kind = 'event' AND (
    w.look_at < w.expires_at
    OR EXISTS (
      SELECT FROM resumptions AS r JOIN events AS e ON e.environment_id = r.environment_id AND e.sequence = r.event_no
      WHERE r.environment_id = w.environment_id AND r.event_name = w.event_name
        AND r.after_wait_no < w.wait_no AND e.received_at < w.expires_at))`;
const ADD = `
  INSERT INTO resumptions (environment_id, event_name, event_no, after_wait_no)
  SELECT $1, r.event_name, r.event_no, 0 FROM unnest($2::text[], $3::bigint[]) AS r(event_name, event_no)`;
const NEXT = `
  SELECT event_no, after_wait_no FROM resumptions WHERE environment_id = $1 AND event_name = $2 ORDER BY event_no LIMIT 1`;
const NOTE = "UPDATE resumptions SET after_wait_no = $4 WHERE environment_id = $1 AND event_name = $2 AND event_no = $3";
const REMOVE = "DELETE FROM resumptions WHERE environment_id = $1 AND event_name = $2 AND event_no = $3";
const LIST = `
  SELECT environment_id, event_name FROM resumptions WHERE ${notFenced("environment_id")}
  UNION SELECT environment_id, event_name FROM waits WHERE look_at IS NOT NULL AND ${notFenced("environment_id")} LIMIT $1`;

export interface Resumption {
  eventSequence: number;
  /** Waits up to this one have been examined. */
  after: number;
}

/** Of these names, those with events that have not ended all of their waits. */
export async function pendingNames(writes: PendingWrites, names: readonly string[]): Promise<Set<string>> {
  const rows = await writes.rows<{ event_name: string }>(PENDING, writes.environmentId, names);
  return new Set(rows.map(({ event_name }) => event_name));
}

export async function isWaitPending(database: Database, { environmentId, runNo, stepId }: RunKey & { stepId: StepId }): Promise<boolean> {
  return (await database.query(PENDING_WAIT, [environmentId, runNo, stepId])).length > 0;
}

/** The events end their waits in further transactions. */
export function addResumptions(writes: PendingWrites, events: readonly SeenEvent[]): void {
  if (events.length === 0) return;
  const columns = [events.map(({ event }) => event.name), events.map(({ sequence }) => sequence)];
  writes.send(ADD, writes.environmentId, ...columns);
  writes.notices.hasResumptions = true;
}

/** The oldest event of the name that has not ended all of its waits. */
export async function nextResumption(writes: PendingWrites, eventName: string): Promise<Resumption | null> {
  const rows = await writes.rows<{ event_no: number; after_wait_no: number }>(NEXT, writes.environmentId, eventName);
  const [row] = rows;
  return row ? { eventSequence: row.event_no, after: row.after_wait_no } : null;
}

/** `after` null: it has ended all of them. */
export function noteResumption(writes: PendingWrites, eventName: string, sequence: number, after: number | null): void {
  const key = [writes.environmentId, eventName, sequence];
  if (after === null) writes.send(REMOVE, ...key);
  else writes.send(NOTE, ...key, after);
}

export async function listResumptions(database: Database, limit: number): Promise<ResumptionKey[]> {
  const rows = await database.query<{ environment_id: EnvironmentId; event_name: string }>(LIST, [limit]);
  return rows.map(({ environment_id, event_name }) => ({ environmentId: environment_id, eventName: event_name }));
}

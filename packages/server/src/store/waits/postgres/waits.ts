/**
 * Events and signals that runs wait for: written, found by event or signal, and removed with their step or run. A wait is found by the
 * name of the event, a path into it, and the key of its value there; each of these is one index lookup.
 */

import type { RunNo, StepId } from "@inlet/protocol";
import type { NewWait } from "../../contract/index.ts";
import { boundedKey, isShort } from "../../postgres/bounded-key.ts";
import { insertInto, jsonRows } from "../../postgres/json-rows.ts";
import type { PendingWrites } from "../../postgres/pending-writes.ts";
import { ANY_PATH, type FoundWait, type LookedBack, type LookRow, toLookingWait, toWait, WAIT_COLUMNS, type WaitRow } from "../rows.ts";

export { ANY_PATH };

const INSERT = insertInto("waits", {
  environment_id: "integer",
  event_name: "text",
  match_path: "text",
  match_key: "text",
  kind: "text",
  run_no: "bigint",
  step_id: "text",
  expression: "text",
  since: "bigint",
  expires_at: "bigint",
});
/** Skips from path to path: most names have one or two, however many waits they have. */
const PATHS = `
  SELECT asked.name, path.match_path FROM unnest($2::text[]) AS asked(name) CROSS JOIN LATERAL (
    WITH RECURSIVE walk AS (
      (SELECT match_path FROM waits WHERE environment_id = $1 AND event_name = asked.name ORDER BY match_path LIMIT 1)
      UNION ALL
      SELECT next.match_path FROM walk CROSS JOIN LATERAL (
        SELECT w.match_path FROM waits AS w
        WHERE w.environment_id = $1 AND w.event_name = asked.name AND w.match_path > walk.match_path
        ORDER BY w.match_path LIMIT 1) AS next)
    SELECT match_path FROM walk) AS path`;
/** The first waits of each key: one index lookup per key, whatever the statistics. */
const FIND = `
  SELECT found.* FROM unnest($2::text[], $3::text[], $4::text[]) AS asked(name, path, key) CROSS JOIN LATERAL (
    SELECT ${WAIT_COLUMNS} FROM waits
    WHERE environment_id = $1 AND event_name = asked.name AND match_path = asked.path AND match_key = asked.key AND wait_no > $5
    ORDER BY wait_no LIMIT $6) AS found`;
const LOOKING_BACK = `
  SELECT ${WAIT_COLUMNS}, look_at, look_no FROM waits WHERE environment_id = $1 AND event_name = $2 AND look_at IS NOT NULL
  ORDER BY look_at, look_no LIMIT $3`;
const START_LOOK_BACK = `
  UPDATE waits SET look_at = since, look_no = 0 FROM unnest($2::bigint[], $3::text[]) AS r(run_no, step_id)
  WHERE waits.environment_id = $1 AND waits.run_no = r.run_no AND waits.step_id = r.step_id AND waits.kind = 'event'`;
const LOOKED_BACK = `
  UPDATE waits SET look_at = $3, look_no = $4
  WHERE environment_id = $1 AND wait_no = ANY ($2::bigint[]) AND ($3::bigint IS NULL OR (look_at, look_no) < ($3::bigint, $4::bigint))`;
const DROP = `
  DELETE FROM waits USING unnest($2::bigint[], $3::text[]) AS gone(run_no, step_id)
  WHERE waits.environment_id = $1 AND waits.run_no = gone.run_no AND waits.step_id = gone.step_id`;
/** Returns no row if another run waits for the signal and is not to be replaced. */
const CLAIM_SIGNAL = `
  INSERT INTO waits (environment_id, event_name, match_path, match_key, kind, run_no, step_id, since, expires_at)
  VALUES ($1, $2, '${ANY_PATH}', '', 'signal', $3, $4, $5, $6)
  ON CONFLICT (environment_id, event_name) WHERE kind = 'signal' DO UPDATE SET
    run_no = excluded.run_no, step_id = excluded.step_id, since = excluded.since, expires_at = excluded.expires_at
  WHERE $7::boolean OR waits.expires_at <= $8
  RETURNING wait_no`;
const FIND_SIGNAL = `
  SELECT run_no, step_id FROM waits WHERE environment_id = $1 AND event_name = $2 AND kind = 'signal' AND expires_at > $3 FOR UPDATE`;
const LOCK = "SELECT wait_no FROM waits WHERE environment_id = $1 AND wait_no = ANY ($2::bigint[]) ORDER BY wait_no FOR UPDATE";

/** Name, path and key, as stored. */
export interface WaitKey {
  name: string;
  path: string;
  key: string;
}

/** The key under which an event's value at this path is looked up. */
export function waitKey(eventName: string, match: NewWait["match"]): WaitKey {
  // A path too long for the index: all such waits are tested.
  if (!match?.path || !isShort(match.path)) return { name: eventName, path: ANY_PATH, key: "" };
  return { name: eventName, path: match.path, key: boundedKey(match.key) };
}

export function insertWaits(writes: PendingWrites): void {
  const { waitsAdded, environmentId } = writes;
  if (waitsAdded.length === 0) return;
  const rows = waitsAdded.map(({ runNo, wait }) => {
    const { name, path, key } = waitKey(wait.eventName, wait.match);
    const { kind, stepId, expression, since, expiresAt } = wait;
    return {
      environment_id: environmentId,
      event_name: name,
      match_path: path,
      match_key: key,
      kind,
      run_no: runNo,
      step_id: stepId,
      since,
      expires_at: expiresAt,
      expression,
    };
  });
  writes.send(INSERT, jsonRows(rows));
}

/** Waits for signals, one after the other: two of a group may have the same signal. Returns those that another run already waits for. */
export async function claimSignals(writes: PendingWrites): Promise<PendingWrites["signalsAdded"]> {
  const taken: PendingWrites["signalsAdded"] = [];
  for (const added of writes.signalsAdded) {
    const { eventName, stepId, since, expiresAt, onConflict } = added.wait;
    const row = [eventName, added.runNo, stepId ?? "", since, expiresAt];
    const rule = [onConflict === "replace", added.allocation.now];
    const claimed = await writes.rows(CLAIM_SIGNAL, writes.environmentId, ...row, ...rule);
    if (claimed.length === 0) taken.push(added);
  }
  return taken;
}

/** The step that waits for the signal. Until this transaction ends, no other can end the wait. */
export async function lockSignal(writes: PendingWrites, eventName: string, now: number): Promise<{ runNo: RunNo; stepId: StepId } | null> {
  const [row] = await writes.rows<{ run_no: RunNo; step_id: string }>(FIND_SIGNAL, writes.environmentId, eventName, now);
  return row ? { runNo: row.run_no, stepId: row.step_id as StepId } : null;
}

/** Waits of steps that no longer wait, and of ended runs. */
export function removeWaits(writes: PendingWrites): void {
  const { environmentId, runsEnded } = writes;
  dropWaits(writes, writes.waitsRemoved);
  if (runsEnded.length > 0)
    writes.send("DELETE FROM waits WHERE environment_id = $1 AND run_no = ANY ($2::bigint[])", environmentId, runsEnded);
}

export function dropWaits(writes: PendingWrites, steps: readonly { runNo: RunNo; stepId: StepId }[]): void {
  if (steps.length === 0) return;
  const columns = [steps.map(({ runNo }) => runNo), steps.map(({ stepId }) => stepId)];
  writes.send(DROP, writes.environmentId, ...columns);
}

/** The paths of waits for these names, by name. */
export async function waitPaths(writes: PendingWrites, names: Iterable<string>): Promise<Map<string, string[]>> {
  const rows = await writes.rows<{ name: string; match_path: string }>(PATHS, writes.environmentId, [...new Set(names)]);
  const paths = new Map<string, string[]>();
  for (const { name, match_path } of rows) paths.set(name, [...(paths.get(name) ?? []), match_path]);
  return paths;
}

/** Of each key the first waits after a number. */
export async function findWaits(
  writes: PendingWrites,
  keys: readonly WaitKey[],
  { after, limit }: { after: number; limit: number },
): Promise<FoundWait[]> {
  if (keys.length === 0) return [];
  const columns = [keys.map(({ name }) => name), keys.map(({ path }) => path), keys.map(({ key }) => key)];
  return (await writes.rows<WaitRow>(FIND, writes.environmentId, ...columns, after, limit)).map(toWait);
}

/** The waits that have just been stored look back in further transactions. */
export function startLookBack(writes: PendingWrites, waits: readonly { runNo: RunNo; stepId: StepId }[]): void {
  if (waits.length === 0) return;
  const columns = [waits.map(({ runNo }) => runNo), waits.map(({ stepId }) => stepId)];
  writes.send(START_LOOK_BACK, writes.environmentId, ...columns);
  writes.notices.hasResumptions = true;
}

/** Those that have come least far first. */
export async function waitsLookingBack(
  writes: PendingWrites,
  eventName: string,
  limit: number,
): Promise<(FoundWait & { looked: LookedBack })[]> {
  const rows = await writes.rows<WaitRow & LookRow>(LOOKING_BACK, writes.environmentId, eventName, limit);
  return rows.map(toLookingWait);
}

/** Null: they have examined every event. */
export function noteLookedBack(writes: PendingWrites, waits: readonly Pick<FoundWait, "no">[], looked: LookedBack | null): void {
  const numbers = waits.map(({ no }) => no);
  writes.send(LOOKED_BACK, writes.environmentId, numbers, looked?.at ?? null, looked?.no ?? null);
}

/** The waits that still exist. Until this transaction ends, no other can end them. */
export async function lockWaits(writes: PendingWrites, numbers: readonly number[]): Promise<Set<number>> {
  const rows = await writes.rows<{ wait_no: number }>(LOCK, writes.environmentId, numbers);
  return new Set(rows.map(({ wait_no }) => wait_no));
}

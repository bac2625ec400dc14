/**
 * Removes old events and runs. Numbers grow with time, so what is oldest comes first, and one look behind the last that is old
 * enough ends the walk. The newest row of each table stays: SQLite numbers the next row after it, and no number may come again.
 */

import type { DatabaseSync } from "node:sqlite";
import type { Removal, RemovalParams, RetentionStore } from "../../contract/index.ts";
import type { GroupCommit } from "../group-commit.ts";

/** What removing a run weighs in a group: its steps, attempts and calls go too. */
const ROWS_PER_RUN = 8;

interface OldRun {
  run_no: number;
  event_nos: string | null;
  created_at: number;
  ended_at: number | null;
}

export function retentionStore(db: DatabaseSync, writer: GroupCommit): RetentionStore {
  const removeRun = prepareRemoveRun(db);
  const someEvents = db.prepare("SELECT sequence, received_at FROM events WHERE sequence > ? ORDER BY sequence LIMIT ?");
  // What is not counted yet is kept until it is (event-types.ts).
  const removeEvents = db.prepare(`
    DELETE FROM events WHERE sequence > ? AND sequence <= ? AND received_at <= ?
      AND sequence < (SELECT max(sequence) FROM events) AND sequence <= (SELECT sequence FROM event_types_counted)
      AND NOT EXISTS (SELECT 1 FROM runs WHERE runs.event_no = events.sequence AND runs.ended_at IS NULL)
      AND NOT EXISTS (
        SELECT 1 FROM batched_events CROSS JOIN runs USING (run_no) WHERE batched_events.event_no = events.sequence AND runs.ended_at IS NULL)
      AND NOT EXISTS (SELECT 1 FROM queue WHERE queue.event_no = events.sequence)
      AND sequence < coalesce((SELECT min(event_no) FROM queue WHERE event_no IS NOT NULL AND kind = 'gather'), ${Number.MAX_SAFE_INTEGER})`);
  const someRuns = db.prepare("SELECT run_no, event_nos, created_at, ended_at FROM runs WHERE run_no > ? ORDER BY run_no LIMIT ?");
  const newestRun = db.prepare("SELECT max(run_no) AS newest FROM runs");

  function expireEvents({ until, after, limit }: RemovalParams): Removal {
    const rows = someEvents.all(Number(after ?? 0), limit) as { sequence: number; received_at: number }[];
    const last = rows.at(-1);
    if (!last) return { removed: 0, next: null };
    const { changes } = removeEvents.run(Number(after ?? 0), last.sequence, until);
    return { removed: Number(changes), next: rows.length < limit || last.received_at > until ? null : String(last.sequence) };
  }

  function expireRuns({ until, after, limit }: RemovalParams): Removal {
    const rows = someRuns.all(Number(after ?? 0), limit) as unknown as OldRun[];
    const { newest } = newestRun.get() as { newest: number | null };
    const old = rows.filter(({ run_no, ended_at }) => ended_at !== null && ended_at <= until && run_no !== newest);
    for (const run of old) removeRun(run);
    const last = rows.at(-1);
    // What began later cannot have ended before.
    return { removed: old.length, next: !last || rows.length < limit || last.created_at > until ? null : String(last.run_no) };
  }

  return {
    // One file, no pieces.
    retentionTend: async () => {},
    eventExpireMany: (params) => writer.submit(() => expireEvents(params), params.limit),
    runExpireMany: (params) => writer.submit(() => expireRuns(params), params.limit * ROWS_PER_RUN),
  };
}

/** Waits and entries of the queue went when the run ended. */
function prepareRemoveRun(db: DatabaseSync): (run: OldRun) => void {
  const parts = ["steps", "failed_attempts", "calls", "runs"].map((table) => db.prepare(`DELETE FROM ${table} WHERE run_no = ?`));
  const forgetEvent = db.prepare("DELETE FROM batched_events WHERE event_no = ? AND run_no = ?");
  return ({ run_no, event_nos }) => {
    for (const eventNo of event_nos === null ? [] : (JSON.parse(event_nos) as number[])) forgetEvent.run(eventNo, run_no);
    for (const part of parts) part.run(run_no);
  };
}

/** Starting functions with rules about their starts, in SQLite: marks are read and written in the transaction that starts the run. */

import type { DatabaseSync } from "node:sqlite";
import type { EnvironmentId, EventId, FunctionNo, RunNo } from "@inlet/protocol";
import {
  type FunctionStartChange,
  type FunctionStartParams,
  type FunctionStartStore,
  type MarkExpireParams,
  type MarkKey,
  TIMER_LANE,
} from "../../contract/index.ts";
import { LeaseAllocation } from "../../queue/policy/lease-allocation.ts";
import type { QueueEntries } from "../../queue/sqlite/queue-entries.ts";
import type { AppendInside } from "../../runs/sqlite/advance-run.ts";
import type { RunStates } from "../../runs/sqlite/run-state.ts";
import type { StartRuns } from "../../runs/sqlite/start-runs.ts";
import type { GroupCommit } from "../../sqlite/group-commit.ts";
import type { ResumeRuns } from "../../waits/sqlite/resume-runs.ts";
import { gatherEntry, heldMarkExpiresAt, runKeepingMark } from "../policy.ts";

export interface FunctionStartParts {
  writer: GroupCommit;
  states: RunStates;
  startRuns: StartRuns;
  resumeRuns: ResumeRuns;
  entries: QueueEntries;
  append: AppendInside;
}

export function functionStartStore(db: DatabaseSync, parts: FunctionStartParts): FunctionStartStore {
  const { writer, states, startRuns, resumeRuns, entries, append } = parts;
  const heldEntry = db.prepare("SELECT environment_id FROM queue WHERE entry_no = ? AND lease_id = ?");
  const removeEntry = db.prepare("DELETE FROM queue WHERE entry_no = ?");
  const moveEntry = db.prepare(
    "UPDATE queue SET rank = ?1, due_at = ?1, lease_id = NULL, leased_by = NULL, claims = 0, calling_probes = 0, concluding_probes = 0 WHERE entry_no = ?2",
  );
  const readMark = db.prepare("SELECT value FROM marks WHERE function_no = ? AND kind = ? AND key = ?");
  const undecided = db.prepare(`
    SELECT event_id FROM events AS e WHERE environment_id = ?1 AND event_id IN (SELECT value FROM json_each(?2))
      AND EXISTS (SELECT 1 FROM queue AS q WHERE q.event_no = e.sequence AND q.kind = 'start')`);
  const writeMark = db.prepare(`
    INSERT INTO marks (function_no, kind, key, value, expires_at) VALUES (?, ?, ?, ?, ?)
    ON CONFLICT DO UPDATE SET value = excluded.value, expires_at = excluded.expires_at`);
  const dropMark = db.prepare("DELETE FROM marks WHERE function_no = ? AND kind = ? AND key = ?");
  const expiredMarks = db.prepare(`
    SELECT function_no, kind, key, value FROM marks INDEXED BY marks_by_age WHERE expires_at <= ? ORDER BY expires_at LIMIT ?`);

  function isActive(runNo: RunNo): boolean {
    const run = states.run(runNo);
    return run !== null && run.endedAt === null;
  }

  function start(params: FunctionStartParams): Awaited<ReturnType<FunctionStartStore["functionStart"]>> {
    const { entry, functionNo, now, lease } = params;
    const allocation = new LeaseAllocation(now, lease);
    const held = heldEntry.get(entry.no, entry.leaseId);
    if (!held) return { applied: false, leased: [], refused: undefined };
    const marks = params.marks.map(({ kind, key }) => (readMark.get(functionNo, kind, key)?.value as string | undefined) ?? null);
    const change = params.decide({ marks, isActive, events: (sequences) => states.events(sequences) });
    if (change.againAt !== undefined) {
      moveEntry.run(change.againAt, entry.no);
      entries.announce(TIMER_LANE, change.againAt);
    } else if (!change.refused) removeEntry.run(entry.no);
    apply(allocation, held.environment_id as EnvironmentId, functionNo, change);
    return { applied: true, leased: allocation.leased, refused: change.refused };
  }

  function apply(allocation: LeaseAllocation, environmentId: EnvironmentId, functionNo: FunctionNo, change: FunctionStartChange): void {
    const { now } = allocation;
    for (const { kind, key, value, expiresAt } of change.marks ?? []) {
      if (value === null) dropMark.run(functionNo, kind, key);
      else writeMark.run(functionNo, kind, key, value, expiresAt);
    }
    for (const runNo of change.cancels ?? []) resumeRuns.cancel(allocation, runNo, null);
    for (const batch of change.events ?? []) append(allocation, batch);
    if (change.gather) entries.add(allocation, gatherEntry(environmentId, functionNo, change.gather));
    if (!change.run) return;
    const runNo = startRuns.startForStored(allocation, environmentId, change.run.event.sequence, change.run.run);
    if (change.holdMark) {
      const { kind, key } = change.holdMark;
      writeMark.run(functionNo, kind, key, String(runNo), heldMarkExpiresAt(now));
    }
  }

  /** The mark of a singleton with an unfinished run is kept, and so is one that is needed for longer than was known when it was written. */
  function expireMarks({ until, limit, neededUntil }: MarkExpireParams): number {
    const rows = expiredMarks.all(until, limit) as { function_no: FunctionNo; kind: MarkKey["kind"]; key: string; value: string }[];
    for (const { function_no, kind, key, value } of rows) {
      const keeper = runKeepingMark({ kind, value });
      const isHeld = keeper !== null && isActive(keeper);
      const expiresAt = isHeld ? heldMarkExpiresAt(until) : neededUntil({ functionNo: function_no, kind, value });
      if (expiresAt > until) writeMark.run(function_no, kind, key, value, expiresAt);
      else dropMark.run(function_no, kind, key);
    }
    return rows.length;
  }

  return {
    eventAt: async ({ sequence }) => states.events([sequence])[0] ?? null,
    eventsAt: async ({ sequences }) => states.events([...new Set(sequences)]),
    markGet: async ({ functionNo, kind, key }) => (readMark.get(functionNo, kind, key)?.value as string | undefined) ?? null,
    startsUndecided: async ({ environmentId, eventIds }) =>
      (undecided.all(environmentId, JSON.stringify(eventIds)) as { event_id: EventId }[]).map(({ event_id }) => event_id),
    functionStart: (params) => writer.submit(() => start(params), 4),
    markExpireMany: (params) => writer.submit(() => expireMarks(params), params.limit),
  };
}

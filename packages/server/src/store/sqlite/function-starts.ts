/** Starting functions that have rules about it, in SQLite: marks read and written in the transaction that starts the run. */

import type { DatabaseSync } from "node:sqlite";
import type { EnvironmentId, FunctionNo, RunNo } from "@inlet/protocol";
import {
  type FunctionStartChange,
  type FunctionStartParams,
  type FunctionStartStore,
  type MarkKey,
  type RunRules,
  TIMER_LANE,
} from "../contract/index.ts";
import { Handing } from "../rows/entry-writes.ts";
import type { AdvanceRun, AppendInside } from "./advance-run.ts";
import type { GroupCommit } from "./group-commit.ts";
import type { QueueEntries } from "./queue-entries.ts";
import type { RunStates } from "./run-state.ts";
import type { StartRuns } from "./start-runs.ts";

const HELD_MARK_MS = 86_400_000;

export interface FunctionStartParts {
  writer: GroupCommit;
  states: RunStates;
  runs: AdvanceRun;
  startRuns: StartRuns;
  entries: QueueEntries;
  rules: RunRules;
  append: AppendInside;
}

export function functionStartStore(db: DatabaseSync, parts: FunctionStartParts): FunctionStartStore {
  const { writer, states, runs, startRuns, entries, rules, append } = parts;
  const heldEntry = db.prepare("SELECT environment_id FROM queue WHERE entry_no = ? AND leased_by = ?");
  const removeEntry = db.prepare("DELETE FROM queue WHERE entry_no = ?");
  const moveEntry = db.prepare("UPDATE queue SET rank = ?1, due_at = ?1, leased_by = NULL, claims = 0, trials = 0 WHERE entry_no = ?2");
  const readMark = db.prepare("SELECT value FROM marks WHERE function_no = ? AND kind = ? AND key = ?");
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

  function start(params: FunctionStartParams): { applied: boolean; handed: Handing["handed"] } {
    const { entryNo, functionNo, now, lease } = params;
    const handing = new Handing(now, lease);
    const held = heldEntry.get(entryNo, lease.node);
    if (!held) return { applied: false, handed: [] };
    const marks = params.marks.map(({ kind, key }) => (readMark.get(functionNo, kind, key)?.value as string | undefined) ?? null);
    const change = params.decide({ marks, isActive, events: (sequences) => states.events(sequences) });
    if (change.againAt === undefined) removeEntry.run(entryNo);
    else {
      moveEntry.run(change.againAt, entryNo);
      entries.announce(TIMER_LANE, change.againAt);
    }
    apply(handing, held.environment_id as EnvironmentId, functionNo, change);
    return { applied: true, handed: handing.handed };
  }

  function apply(handing: Handing, environmentId: EnvironmentId, functionNo: FunctionNo, change: FunctionStartChange): void {
    const { now } = handing;
    for (const { kind, key, value, expiresAt } of change.marks ?? []) {
      if (value === null) dropMark.run(functionNo, kind, key);
      else writeMark.run(functionNo, kind, key, value, expiresAt);
    }
    for (const runNo of change.cancels ?? []) runs.advance(handing, runNo, null, (state) => rules.cancel(state, now));
    for (const batch of change.events ?? []) append(handing, batch);
    if (change.refused) refuse(handing, change.refused);
    if (change.gather) gather(handing, environmentId, functionNo, change.gather);
    if (!change.run) return;
    const runNo = startRuns.start(handing, environmentId, change.run.event.sequence, change.run.run);
    if (change.holdMark) hold(functionNo, change.holdMark, runNo, now);
  }

  function refuse(handing: Handing, { invoker, value }: NonNullable<FunctionStartChange["refused"]>): void {
    const step = { id: invoker.stepId, status: "failed", value } as const;
    runs.advance(handing, invoker.runNo, null, (state) => rules.resolve(state, step, handing.now));
  }

  function gather(
    handing: Handing,
    environmentId: EnvironmentId,
    functionNo: FunctionNo,
    { key, dueAt, since }: NonNullable<FunctionStartChange["gather"]>,
  ): void {
    entries.add(handing, {
      ...{ environmentId, functionNo, dueAt, rank: dueAt, kind: "gather", lane: TIMER_LANE, subject: key },
      ...{ runNo: null, stepId: null, attempt: 0, eventSequence: since },
    });
  }

  /** Whether the run it names is active is what counts about a singleton's mark; it is looked at again later. */
  function hold(functionNo: FunctionNo, { kind, key }: MarkKey, runNo: RunNo, now: number): void {
    writeMark.run(functionNo, kind, key, String(runNo), now + HELD_MARK_MS);
  }

  /** The mark of a singleton whose run goes on stays. */
  function expireMarks(until: number, limit: number): number {
    const rows = expiredMarks.all(until, limit) as { function_no: number; kind: string; key: string; value: string }[];
    for (const { function_no, kind, key, value } of rows) {
      const isHeld = kind === "singleton" && isActive(Number(value) as RunNo);
      if (isHeld) writeMark.run(function_no, kind, key, value, until + HELD_MARK_MS);
      else dropMark.run(function_no, kind, key);
    }
    return rows.length;
  }

  return {
    eventAt: async ({ sequence }) => states.events([sequence])[0] ?? null,
    markGet: async ({ functionNo, kind, key }) => (readMark.get(functionNo, kind, key)?.value as string | undefined) ?? null,
    functionStart: (params) => writer.submit(() => start(params), 4),
    markExpireMany: ({ until, limit }) => writer.submit(() => expireMarks(until, limit), limit),
  };
}

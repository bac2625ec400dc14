/** Starting functions that have rules about it, in PostgreSQL: a start is written only if the marks are still what it was decided on. */

import type { EnvironmentId, FunctionNo } from "@inlet/protocol";
import {
  type ClaimedEntry,
  type FunctionStartChange,
  type FunctionStartParams,
  type FunctionStartStore,
  type RunRules,
  TIMER_LANE,
} from "../contract/index.ts";
import { Handing } from "../rows/entry-writes.ts";
import type { AdvanceRun, AppendInside } from "./advance-run.ts";
import { handedEntries } from "./append-events.ts";
import type { Database } from "./database.ts";
import type { GroupWriter } from "./group-writer.ts";
import type { RunReads } from "./run-reads.ts";
import { startRun } from "./start-runs.ts";
import type { UnitDraft } from "./unit-draft.ts";

const HELD_ENTRY = "SELECT environment_id FROM queue WHERE entry_no = $1 AND leased_by = $2";

export interface FunctionStartParts {
  database: Database;
  writer: GroupWriter;
  reads: RunReads;
  runs: AdvanceRun;
  rules: RunRules;
  append: AppendInside;
}

const HELD_MARK_MS = 86_400_000;

/** The mark of a singleton whose run goes on stays. Says how many were looked at. */
const EXPIRE_MARKS = `
  WITH old AS MATERIALIZED (
    SELECT function_no, kind, key, value FROM marks WHERE expires_at <= $1 ORDER BY expires_at LIMIT $2 FOR UPDATE SKIP LOCKED
  ), held AS MATERIALIZED (
    SELECT old.* FROM old JOIN runs ON old.kind = 'singleton' AND runs.run_no = old.value::bigint AND runs.ended_at IS NULL
  ), kept AS (
    UPDATE marks SET expires_at = $1::bigint + ${HELD_MARK_MS} FROM held
    WHERE marks.function_no = held.function_no AND marks.kind = held.kind AND marks.key = held.key
  ), gone AS (
    DELETE FROM marks USING old WHERE marks.function_no = old.function_no AND marks.kind = old.kind AND marks.key = old.key
      AND NOT EXISTS (SELECT FROM held WHERE held.function_no = old.function_no AND held.kind = old.kind AND held.key = old.key)
  )
  SELECT count(*) AS looked FROM old`;

export function functionStartStore({ database, writer, reads, runs, rules, append }: FunctionStartParts): FunctionStartStore {
  async function start(params: FunctionStartParams): Promise<{ applied: boolean; handed: ClaimedEntry[] }> {
    const { entryNo, functionNo, now, lease } = params;
    const [held] = await database.prepared<{ environment_id: EnvironmentId }>("held-entry", HELD_ENTRY, [entryNo, lease.node]);
    if (!held) return { applied: false, handed: [] };
    return writer.submit<{ applied: boolean; handed: ClaimedEntry[] }>(
      (draft) => {
        // Nothing but the marks can be out of date, or the entry is not held any more: then the start is not ours to decide.
        if (draft.isRepeat && !draft.reads.isHeld(entryNo, lease.node)) return () => ({ applied: false, handed: [] });
        const handing = new Handing(now, lease);
        const change = params.decide({
          marks: params.marks.map((mark) => draft.readMark(functionNo, mark)),
          isActive: (runNo) => draft.reads.run(runNo)?.run.endedAt === null,
          events: (sequences) => draft.reads.events(sequences),
        });
        draft.rows.held.push({ entry_no: entryNo, node: lease.node });
        if (change.againAt === undefined) draft.rows.entriesGone.push({ entry_no: entryNo });
        else draft.comeAgain(entryNo, change.againAt);
        apply(draft, handing, held.environment_id, functionNo, change);
        return (written) => ({ applied: true, handed: handedEntries(draft, handing, written) });
      },
      { rows: 4 },
    );
  }

  function apply(
    draft: UnitDraft,
    handing: Handing,
    environmentId: EnvironmentId,
    functionNo: FunctionNo,
    change: FunctionStartChange,
  ): void {
    for (const mark of change.marks ?? []) draft.writeMark(functionNo, mark);
    for (const runNo of change.cancels ?? []) runs.advance(draft, handing, runNo, null, (state) => rules.cancel(state, handing.now));
    for (const batch of change.events ?? []) append(draft, handing, batch);
    if (change.gather) {
      const { key, dueAt } = change.gather;
      const entry = { environmentId, functionNo, dueAt, rank: dueAt, kind: "gather", lane: TIMER_LANE, subject: key } as const;
      draft.addEntry(handing, { ...entry, runNo: null, stepId: null, attempt: 0, eventSequence: null }, null);
    }
    if (!change.run) return;
    const runNo = startRun(draft, handing, environmentId, { sequence: change.run.event.sequence }, change.run.run);
    // Whether the run it names is active is what counts about a singleton's mark; it is looked at again later.
    if (change.holdMark) draft.writeMark(functionNo, { ...change.holdMark, value: String(runNo), expiresAt: handing.now + HELD_MARK_MS });
  }

  return {
    eventAt: ({ sequence }) => reads.event(sequence),
    markGet: ({ functionNo, ...mark }) => reads.mark(functionNo, mark),
    functionStart: start,
    async markExpireMany({ until, limit }) {
      const [row] = await database.query<{ looked: number }>(EXPIRE_MARKS, [until, limit]);
      return row?.looked ?? 0;
    },
  };
}

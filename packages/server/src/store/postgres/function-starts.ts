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
import type { AdvanceRun } from "./advance-run.ts";
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
}

export function functionStartStore({ database, writer, reads, runs, rules }: FunctionStartParts): FunctionStartStore {
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
        draft.rows.entriesGone.push({ entry_no: entryNo });
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
    if (change.gather) {
      const { key, dueAt } = change.gather;
      const entry = { environmentId, functionNo, dueAt, rank: dueAt, kind: "gather", lane: TIMER_LANE, subject: key } as const;
      draft.addEntry(handing, { ...entry, runNo: null, stepId: null, attempt: 0, eventSequence: null }, null);
    }
    if (!change.run) return;
    const runNo = startRun(draft, handing, environmentId, { sequence: change.run.event.sequence }, change.run.run);
    // A singleton's mark outlives every run: whether the run it names is active is what counts.
    if (change.holdMark) draft.writeMark(functionNo, { ...change.holdMark, value: String(runNo), expiresAt: Number.MAX_SAFE_INTEGER });
  }

  return {
    eventAt: ({ sequence }) => reads.event(sequence),
    markGet: ({ functionNo, ...mark }) => reads.mark(functionNo, mark),
    functionStart: start,
    async markExpireMany({ until, limit }) {
      const rows = await database.query(
        `DELETE FROM marks WHERE (function_no, kind, key) IN (
           SELECT function_no, kind, key FROM marks WHERE expires_at <= $1 ORDER BY expires_at LIMIT $2 FOR UPDATE SKIP LOCKED)
         RETURNING 1`,
        [until, limit],
      );
      return rows.length;
    },
  };
}

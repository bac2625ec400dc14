/** Drafts a run with its first entry. */

import type { EnvironmentId, RunNo } from "@inlet/protocol";
import { type NewRun, type NewStart, TIMER_LANE, toStoreText } from "../contract/index.ts";
import type { Handing } from "../rows/entry-writes.ts";
import type { UnitDraft } from "./unit-draft.ts";

/** The event that starts something: its number in this unit, or its place in the store. */
export type Starter = { number: number } | { sequence: number };

export function startRun(draft: UnitDraft, handing: Handing, environmentId: EnvironmentId, starter: Starter, run: NewRun): RunNo {
  const { id, functionNo, lane, dueAt, rank, eventSequences, cron, originalRunId, invoker } = run;
  const event = "number" in starter ? starter.number : null;
  const runNo = draft.reads.nextNumber() as RunNo;
  draft.changedRuns.add(runNo);
  const status = dueAt <= handing.now && handing.hasRoom(lane) ? "running" : "queued";
  draft.rows.newRuns.push({
    ...{ e: event, run_no: runNo, environment_id: environmentId, run_id: id, function_no: functionNo },
    ...{ event_no: "sequence" in starter ? starter.sequence : null, event_nos: eventSequences ? JSON.stringify(eventSequences) : null },
    ...{ status, lane_no: draft.words.laneNo(lane), created_at: handing.now, cron: cron === undefined ? null : toStoreText(cron) },
    ...{ original_run_id: originalRunId ?? null, invoker_run_no: invoker?.runNo ?? null },
    invoker_step_id: invoker ? toStoreText(invoker.stepId) : null,
  });
  const first = { environmentId, lane, rank, runNo, functionNo, stepId: null, attempt: 0, subject: null, eventSequence: null };
  draft.addEntry(handing, { ...first, dueAt, kind: "call" }, event);
  if (run.startBy !== undefined) draft.addEntry(handing, { ...first, dueAt: run.startBy, kind: "start-by" }, event);
  for (const wait of run.cancels ?? []) draft.addWait(environmentId, runNo, wait, event);
  return runNo;
}

/** A function with rules about its starts: what happens is decided when the entry is worked on. */
export function requestStart(draft: UnitDraft, handing: Handing, environmentId: EnvironmentId, number: number, start: NewStart): void {
  const { functionNo, dueAt } = start;
  const entry = { environmentId, functionNo, dueAt, kind: "start", lane: TIMER_LANE, rank: dueAt } as const;
  draft.addEntry(handing, { ...entry, runNo: null, stepId: null, attempt: 0, subject: null, eventSequence: null }, number);
}

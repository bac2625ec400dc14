/** Drafts a run with its first entry. */

import type { EntryNo, EnvironmentId, RunNo } from "@inlet/protocol";
import {
  type NewRun,
  type NewStart,
  type RunRecord,
  type RunStatus,
  type StoredEvent,
  TIMER_LANE,
  toStoreText,
} from "../../contract/index.ts";
import type { Handing } from "../../rows/entry-writes.ts";
import type { HeldEntry, ReadRun } from "./run-reads.ts";
import type { UnitDraft } from "./unit-draft.ts";

/** The event that starts something: its number in this unit, or its place in the store. */
export type Starter = { number: number; event(): StoredEvent } | { sequence: number };

export function startRun(draft: UnitDraft, handing: Handing, environmentId: EnvironmentId, starter: Starter, run: NewRun): RunNo {
  const { id, functionNo, lane, dueAt, rank, eventSequences, cron, originalRunId, invoker } = run;
  const event = "number" in starter ? starter.number : null;
  const runNo = draft.reads.nextNumber("runs") as RunNo;
  draft.changedRuns.add(runNo);
  const status = dueAt <= handing.now && handing.hasRoom(lane) ? "running" : "queued";
  draft.rows.newRuns.push({
    ...{ e: event, run_no: runNo, environment_id: environmentId, run_id: id, function_no: functionNo },
    ...{ event_no: "sequence" in starter ? starter.sequence : null, event_nos: eventSequences ? JSON.stringify(eventSequences) : null },
    ...{
      status,
      lane_no: draft.words.laneNo(lane, environmentId),
      created_at: handing.now,
      cron: cron === undefined ? null : toStoreText(cron),
    },
    ...{ original_run_id: originalRunId ?? null, invoker_run_no: invoker?.runNo ?? null },
    invoker_step_id: invoker ? toStoreText(invoker.stepId) : null,
  });
  const first = { environmentId, lane, rank, runNo, functionNo, stepId: null, attempt: 0, subject: null, eventSequence: null };
  const call = entryOf("call", draft.addEntry(handing, { ...first, dueAt, kind: "call" }, event));
  const entries = [call];
  if (run.startBy !== undefined) {
    entries.push(entryOf("start-by", draft.addEntry(handing, { ...first, dueAt: run.startBy, kind: "start-by" }, event)));
  }
  for (const wait of run.cancels ?? []) draft.addWait(environmentId, runNo, wait, event);
  draft.noteStarted(runNo, {
    environmentId,
    cancels: run.cancels ?? [],
    event: "number" in starter ? starter : null,
    isHeld: call.isHeld,
    read: () => startedRun(environmentId, starter, run, { no: runNo, status, createdAt: handing.now, entries }),
  });
  return runNo;
}

function entryOf(kind: string, { no, leasedBy }: { no: EntryNo; leasedBy: string | null }): HeldEntry {
  const isHeld = leasedBy !== null;
  return { no, kind, stepId: null, attempt: 0, claims: isHeld ? 1 : 0, isHeld, leasedBy, goesAgain: false };
}

/** As it would be read, were it stored already. The place of an event that is still to be stored is not known. */
export function startedRun(
  environmentId: EnvironmentId,
  starter: Starter,
  { id, functionNo, lane, eventSequences, cron, originalRunId, invoker }: NewRun,
  { no, status, createdAt, entries }: { no: RunNo; status: RunStatus; createdAt: number; entries: HeldEntry[] },
): ReadRun {
  const run: RunRecord = {
    no,
    id,
    environmentId,
    functionNo,
    lane,
    status,
    eventSequence: "sequence" in starter ? starter.sequence : 0,
    createdAt,
    startedAt: null,
    endedAt: null,
    requestVersion: -1,
    isParallel: false,
    stateBytes: 0,
    cron: cron ?? null,
    originalRunId: originalRunId ?? null,
    invoker: invoker ?? null,
  };
  const eventNos = eventSequences ? JSON.stringify(eventSequences) : null;
  return { run, revision: 0, eventNos, steps: [], entries, hasWaits: false };
}

/** A function with rules about its starts: what happens is decided when the entry is worked on. */
export function requestStart(draft: UnitDraft, handing: Handing, environmentId: EnvironmentId, number: number, start: NewStart): void {
  const { functionNo, dueAt } = start;
  const entry = { environmentId, functionNo, dueAt, kind: "start", lane: TIMER_LANE, rank: dueAt } as const;
  draft.addEntry(handing, { ...entry, runNo: null, stepId: null, attempt: 0, subject: null, eventSequence: null }, number);
}

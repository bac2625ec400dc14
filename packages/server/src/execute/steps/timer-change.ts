/** Decides what follows when an entry that calls no app is due: a sleep or wait is over, or a run exceeded a timeout. A pure function. */

import { eventJson } from "@inlet/protocol";
import type { ClaimedEntry, RunChange, RunEnd, RunState, StepRecord, StoredEvent } from "../../store/contract/index.ts";
import { cancelRun, type EndEvents, failedResult, failRun, resolveStep, type StepResult } from "./run-changes.ts";
import { timeoutValue } from "./step-parameters.ts";

export interface TimerFacts {
  /** The event that the entry names. */
  event: StoredEvent | null;
  /** The end of the run that the entry names. */
  ended: RunEnd | null;
  /** False: a deploy has taken back the timeout for the start, and a first call under way was not noted as the start. */
  limitsStart: boolean;
  now: number;
  endEvents: EndEvents;
}

export function timerChange(entry: ClaimedEntry, state: RunState, facts: TimerFacts): RunChange {
  const { now, endEvents } = facts;
  const step = state.steps.find(({ id }) => id === entry.stepId);
  switch (entry.kind) {
    case "cancel":
      if (entry.eventSequence === null) return cancelRun(state, now, endEvents, "It was replaced by a newer run.");
      return cancelRun(state, now, endEvents, "An event cancelled it.", facts.event?.id);
    case "start-by":
      if (state.run.startedAt !== null || !facts.limitsStart) return {};
      return cancelRun(state, now, endEvents, "It did not start within the timeout of its function.");
    case "finish-by":
      return cancelRun(state, now, endEvents, "It did not end within the timeout of its function.");
    case "wake":
      return step ? resolveStep(state, { id: step.id, ...timeoutValue("sleep") }, now) : {};
    default:
      if (entry.outcome && "fault" in entry.outcome) return failRun(state, entry.outcome.fault, now, endEvents);
      // An event ends a wait after its receipt, so that the next wait does not match the same event.
      return step ? resolveStep(state, waitResult(entry, step, facts), Math.max(now, (facts.event?.receivedAt ?? 0) + 1)) : {};
  }
}

/** The event that arrived in time for a wait while its timeout was already being processed; null: none did. */
export function arrivedMeanwhile(entry: ClaimedEntry, { entries }: RunState): number | null {
  return hasTimedOut(entry) ? (entries.find(({ no }) => no === entry.no)?.eventSequence ?? null) : null;
}

/** The wait is over, and neither an event nor a run nor a signal has ended it. */
export function hasTimedOut({ kind, eventSequence, endedRunNo, outcome }: ClaimedEntry): boolean {
  return kind === "resume" && eventSequence === null && endedRunNo === null && outcome === null;
}

function waitResult(
  { eventSequence, endedRunNo, outcome }: ClaimedEntry,
  { id, kind }: StepRecord,
  { event, ended }: TimerFacts,
): StepResult {
  if (eventSequence !== null && event) return { id, status: "completed", value: eventJson(event), eventId: event.id };
  if (outcome && "value" in outcome) return { id, status: "completed", value: outcome.value };
  if (endedRunNo !== null) return { id, ...invokedValue(ended) };
  return { id, ...timeoutValue(kind) };
}

/** The result of a step that invoked a run. */
function invokedValue(end: RunEnd | null): Pick<StepResult, "status" | "value"> {
  if (end?.status === "completed") return { status: "completed", value: `{"data":${end.output}}` };
  return failedResult(end?.error ?? { name: "InvocationLost", message: "The invoked run was removed before its result was read." });
}

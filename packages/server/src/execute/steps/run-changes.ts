/**
 * How a run changes: pure functions from its state to the writes.
 *
 *   queued ──▶ running ──▶ completed | failed          cancelled from every state that is not an end
 *                │  ▲
 *                ▼  │
 *         sleeping | waiting
 *
 * A run is running while a call is in progress or due, waiting while every branch of it waits for an event or another run,
 * and sleeping while only timers are left. Its steps go from open (planned, running, sleeping, waiting) to completed or
 * failed, once.
 */

import type { EventId, StepId } from "@inlet/protocol";
import type { EventBatch, NewEntry, RunChange, RunEnd, RunError, RunState, RunStatus, StepRecord } from "../../store/contract/index.ts";

/** The events that report a run's end, with the runs they start. */
export type EndEvents = (state: RunState, end: RunEnd) => EventBatch[];

export const DISCOVERY: NewEntry = { kind: "call", stepId: null };

export function isOpen({ endedAt }: StepRecord): boolean {
  return endedAt === null;
}

export interface StepResult {
  id: StepId;
  status: "completed" | "failed";
  value: string;
  /** The event that ended a wait. */
  eventId?: EventId;
}

/** The result of a step that failed, as every SDK reads it. */
export function failedResult(error: RunError): { status: "failed"; value: string } {
  return { status: "failed", value: JSON.stringify({ error }) };
}

/** A waiting step has ended: by timeout, or because its event or invoked run has arrived. No change if it had already ended. */
export function resolveStep(state: RunState, { id, ...result }: StepResult, now: number): RunChange {
  const step = state.steps.find((candidate) => candidate.id === id);
  if (!step || !isOpen(step)) return {};
  const done = { ...step, ...result, endedAt: now };
  // Functions race waits against their steps: a timeout must not have to wait for the step it limits.
  return { steps: [done], settled: [id], ...continueRun(state, { done: new Set([id]), added: [], plannedNow: 0, asksAtOnce: true }) };
}

/** A sleep ends before its time, as if it were over. No change if the step does not sleep: it goes on once, whichever of the two comes first. */
export function wakeStep(state: RunState, id: StepId, now: number): RunChange {
  const isAsleep = state.steps.some((step) => step.id === id && step.status === "sleeping");
  return isAsleep ? resolveStep(state, { id, status: "completed", value: "null" }, now) : {};
}

export interface ContinueParams {
  done: ReadonlySet<StepId>;
  /** Entries for operations found in the same response. */
  added: readonly NewEntry[];
  /** How many steps were planned in the same response. */
  plannedNow: number;
  asksAtOnce: boolean;
}

/**
 * What follows after steps have ended: the function is called again, unless steps it planned are still in progress
 * and its SDK wants to be called once for all of them.
 */
export function continueRun(state: RunState, { done, added, plannedNow, asksAtOnce }: ContinueParams): RunChange {
  const isSettled = plannedNow === 0 && !state.steps.some(({ id, status }) => status === "planned" && !done.has(id));
  const asksNow = asksAtOnce || isSettled || state.run.requestVersion < 2;
  return {
    status: "running",
    entries: asksNow ? [...added, DISCOVERY] : added,
    isParallel: isSettled ? false : state.run.isParallel,
  };
}

/** The status of a run while none of its calls is in progress. */
export function restingStatus(steps: readonly Pick<StepRecord, "status" | "endedAt">[]): RunStatus {
  const open = steps.filter(({ endedAt }) => endedAt === null);
  if (open.some(({ status }) => status === "waiting")) return "waiting";
  return open.some(({ status }) => status === "sleeping") ? "sleeping" : "running";
}

export function completeRun(state: RunState, output: string, now: number, endEvents: EndEvents): RunChange {
  return endRun(state, { status: "completed", endedAt: now, output, error: null }, endEvents);
}

/** `output` is the SDK's response, if any. */
export function failRun(state: RunState, error: RunError, now: number, endEvents: EndEvents, output: string | null = null): RunChange {
  return endRun(state, { status: "failed", endedAt: now, output, error }, endEvents);
}

/** `cancelledBy` is the event that cancels it, if one does. */
export function cancelRun(state: RunState, now: number, endEvents: EndEvents, reason: string, cancelledBy?: EventId): RunChange {
  const error = { name: "RunCancelled", message: reason };
  return endRun(state, { status: "cancelled", endedAt: now, output: null, error, ...(cancelledBy && { cancelledBy }) }, endEvents);
}

function endRun(state: RunState, end: RunEnd, endEvents: EndEvents): RunChange {
  return { end, events: endEvents(state, end) };
}

/** The possible responses of an app to a call, and the other inputs of the decision. */

import type { EventId, StepId } from "@inlet/protocol";
import type { EntryRecord, FailedAttempt, NewApproval, NewWait, RunChange, RunError, RunState } from "../../store/contract/index.ts";
import type { Operation } from "./operations.ts";
import type { EndEvents } from "./run-changes.ts";

export type CallResponse =
  | { kind: "finished"; output: string }
  | { kind: "operations"; operations: readonly Operation[]; mayRetry: boolean; retryAfterMs: number | null }
  | { kind: "failed"; error: RunError; mayRetry: boolean; retryAfterMs: number | null; httpStatus: number | null; body: string | null };

export type CallResponseOf<Kind extends CallResponse["kind"]> = Extract<CallResponse, { kind: Kind }>;

export interface CallFacts {
  entry: Pick<EntryRecord, "no">;
  startedAt: number;
  /** When the response arrived. It is decided about later on a busy node. */
  endedAt: number;
  now: number;
  /** How many step results the call included. */
  stepsGiven: number;
  /** The call was told to run no step itself: the run was in a parallel part. */
  isPlanning: boolean;
  /** They were too large for the call: the SDK had to fetch them. */
  fetchesState: boolean;
  requestVersion: number;
  /** How often a step, or the function, is retried. */
  retries: number;
  retryAt(attempt: number, retryAfterMs: number | null): number;
  endEvents: EndEvents;
  /** These parse a step's parameters; they return a sentence if these are invalid. */
  sleepUntil(operation: Operation): number | string;
  wait(operation: Operation, state: RunState, since: number): NewWait | string;
  invoke(operation: Operation, state: RunState): Invocation | string;
  ask(operation: Operation, state: RunState): AskedApproval | string;
}

export interface Invocation {
  /** Null if the function's own rules decide whether and when it is started. */
  childRunId: string | null;
  /** The event with which the function is invoked. */
  eventId: EventId;
  expiresAt: number;
  events: NonNullable<RunChange["events"]>;
}

export interface AskedApproval {
  approval: NewApproval;
  events: NonNullable<RunChange["events"]>;
}

/** The queue entry that the call was made for. */
export function entryOf(state: RunState, { entry }: CallFacts): EntryRecord {
  const found = state.entries.find(({ no }) => no === entry.no);
  if (!found) throw new Error("a response was decided on without its entry");
  return found;
}

export function failedAttempt(
  stepId: StepId | null,
  attempt: number,
  { startedAt, endedAt }: CallFacts,
  error: RunError,
  httpStatus: number | null,
): FailedAttempt {
  return { stepId, attempt, startedAt, endedAt, httpStatus, error };
}

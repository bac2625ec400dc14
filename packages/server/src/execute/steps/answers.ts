/** What an app may answer to a call, and what is known beside it when its consequences are decided. */

import type { StepId } from "@inlet/protocol";
import type { EntryRecord, FailedAttempt, NewWait, RunChange, RunError, RunState } from "../../store/contract/index.ts";
import type { Operation } from "./operations.ts";
import type { EndEvents } from "./run-changes.ts";

export type Answer =
  | { kind: "finished"; output: string }
  | { kind: "operations"; operations: readonly Operation[]; mayRetry: boolean; retryAfterMs: number | null }
  | { kind: "failed"; error: RunError; mayRetry: boolean; retryAfterMs: number | null; httpStatus: number | null; body: string | null };

export type AnswerOf<Kind extends Answer["kind"]> = Extract<Answer, { kind: Kind }>;

export interface CallFacts {
  entry: Pick<EntryRecord, "no">;
  startedAt: number;
  now: number;
  /** How many results of steps the call was given. */
  stepsGiven: number;
  /** They did not fit into the call: the SDK had to fetch them. */
  fetchesState: boolean;
  requestVersion: number;
  /** How often a step, or the function, is tried again. */
  retries: number;
  retryAt(attempt: number, retryAfterMs: number | null): number;
  endEvents: EndEvents;
  /** These read a step's parameters; a sentence when they make no sense. */
  sleepUntil(operation: Operation): number | string;
  wait(operation: Operation, state: RunState, since: number): NewWait | string;
  invoke(operation: Operation, state: RunState): Invocation | string;
}

export interface Invocation {
  /** Null when the function's own rules decide whether and when it is started. */
  childRunId: string | null;
  expiresAt: number;
  events: NonNullable<RunChange["events"]>;
}

/** The entry of the queue that the call was made for. */
export function entryOf(state: RunState, { entry }: CallFacts): EntryRecord {
  const found = state.entries.find(({ no }) => no === entry.no);
  if (!found) throw new Error("an answer was decided on without its entry");
  return found;
}

export function failedAttempt(
  stepId: StepId | null,
  attempt: number,
  { startedAt, now }: CallFacts,
  error: RunError,
  httpStatus: number | null,
): FailedAttempt {
  return { stepId, attempt, startedAt, endedAt: now, httpStatus, error };
}

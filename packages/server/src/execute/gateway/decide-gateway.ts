/** Decides what follows from the response to a step's request: a pure function of the run's state and the response. */

import { type GatewayRequest, shownRequest } from "@inlet/protocol";
import type { EntryRecord, RunChange, RunError, RunState, StepRecord } from "../../store/contract/index.ts";
import { continueRun, type EndEvents, failedResult, failRun } from "../steps/run-changes.ts";
import { overLimit } from "../steps/run-limits.ts";

export type GatewayOutcome =
  | { value: string }
  | { error: RunError; httpStatus: number | null; retryAfterMs: number | null; mayRetry: boolean };

export interface GatewayFacts {
  request: GatewayRequest;
  startedAt: number;
  now: number;
  retries: number;
  retryAt(attempt: number, retryAfterMs: number | null): number;
  endEvents: EndEvents;
}

export function decideGateway(state: RunState, entry: EntryRecord, outcome: GatewayOutcome, facts: GatewayFacts): RunChange {
  const step = state.steps.find(({ id }) => id === entry.stepId);
  if (!step || step.endedAt !== null) return {};
  const attempts = entry.attempt + 1;
  if ("value" in outcome) return finish(state, { ...step, attempts }, { status: "completed", value: outcome.value }, facts);
  const { error, httpStatus, retryAfterMs, mayRetry } = outcome;
  const { startedAt, now } = facts;
  const failure = { stepId: step.id, attempt: entry.attempt, startedAt, endedAt: now, httpStatus, error };
  if (mayRetry && entry.attempt < facts.retries) {
    const retry = { retryAt: facts.retryAt(entry.attempt, retryAfterMs), attempt: attempts };
    return { attempts: [failure], steps: [{ ...step, attempts }], entry: retry };
  }
  const end = finish(state, { ...step, attempts }, failedResult(error), facts);
  return { ...end, attempts: [failure] };
}

/** The secrets of the request are removed with the end of the step. */
function finish(state: RunState, step: StepRecord, end: { status: "completed" | "failed"; value: string }, facts: GatewayFacts): RunChange {
  const { now, startedAt, endEvents, request } = facts;
  const steps = [{ ...step, ...end, startedAt, endedAt: now, detail: JSON.stringify(shownRequest(JSON.stringify(request))) }];
  const fault = overLimit(state, steps);
  if (fault) return { steps, ...failRun(state, fault, now, endEvents) };
  return { steps, ...continueRun(state, { done: new Set([step.id]), added: [], plannedNow: 0, asksAtOnce: request.races === true }) };
}

/** Decides what follows from an app's response: a pure function of the run's state and the response. */

import type { RunChange, RunState } from "../../store/contract/index.ts";
import { type CallFacts, type CallResponse, type CallResponseOf, entryOf, failedAttempt } from "./call-response.ts";
import { OperationsReader } from "./read-steps.ts";
import { completeRun, failRun } from "./run-changes.ts";

export function decideResponse(state: RunState, response: CallResponse, facts: CallFacts): RunChange {
  const { requestVersion, startedAt } = facts;
  return { ...decide(state, response, facts), startedAt: state.run.startedAt ?? startedAt, requestVersion };
}

function decide(state: RunState, response: CallResponse, facts: CallFacts): RunChange {
  if (response.kind === "finished") return completeRun(state, response.output, facts.now, facts.endEvents);
  if (response.kind === "failed") return decideFailure(state, response, facts);
  return new OperationsReader(state, response, facts).read();
}

/** The function itself failed, or could not be reached. */
function decideFailure(state: RunState, response: CallResponseOf<"failed">, facts: CallFacts): RunChange {
  const { attempt, stepId } = entryOf(state, facts);
  const attempts = [failedAttempt(stepId, attempt, facts, response.error, response.httpStatus)];
  if (response.mayRetry && attempt < facts.retries) {
    return { attempts, entry: { retryAt: facts.retryAt(attempt, response.retryAfterMs), attempt: attempt + 1 } };
  }
  return { attempts, ...failRun(state, response.error, facts.now, facts.endEvents, response.body) };
}

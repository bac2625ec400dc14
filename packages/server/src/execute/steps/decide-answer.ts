/** Decides what follows from an app's response: a pure function of the run's state and the response. */

import type { RunChange, RunState } from "../../store/contract/index.ts";
import { type Answer, type AnswerOf, type CallFacts, entryOf, failedAttempt } from "./answers.ts";
import { OperationsReader } from "./read-steps.ts";
import { completeRun, failRun } from "./run-changes.ts";

export function decideAnswer(state: RunState, answer: Answer, facts: CallFacts): RunChange {
  const { requestVersion, startedAt } = facts;
  return { ...decide(state, answer, facts), startedAt: state.run.startedAt ?? startedAt, requestVersion };
}

function decide(state: RunState, answer: Answer, facts: CallFacts): RunChange {
  if (answer.kind === "finished") return completeRun(state, answer.output, facts.now, facts.endEvents);
  if (answer.kind === "failed") return decideFailure(state, answer, facts);
  return new OperationsReader(state, answer, facts).read();
}

/** The function itself failed, or could not be reached. */
function decideFailure(state: RunState, answer: AnswerOf<"failed">, facts: CallFacts): RunChange {
  const { attempt, stepId } = entryOf(state, facts);
  const attempts = [failedAttempt(stepId, attempt, facts, answer.error, answer.httpStatus)];
  if (answer.mayRetry && attempt < facts.retries) {
    return { attempts, entry: { retryAt: facts.retryAt(attempt, answer.retryAfterMs), attempt: attempt + 1 } };
  }
  return { attempts, ...failRun(state, answer.error, facts.now, facts.endEvents, answer.body) };
}

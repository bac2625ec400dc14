/** One call of a function: asks the app, and says what follows from its answer. */

import type { App, ClaimedEntry, EventPlace, RunChange, RunContext, RunState } from "../store/contract/index.ts";
import { type AppCaller, NoAnswer } from "./call/call-app.ts";
import { CallPlaces, placeForWait } from "./call/call-places.ts";
import { type CallTarget, functionRequest, type SigningKey } from "./call/function-request.ts";
import { failed, type ReadAnswer, readAnswer } from "./call/read-answer.ts";
import type { Backoff } from "./queue/backoff.ts";
import type { CallFacts } from "./steps/answers.ts";
import { decideAnswer } from "./steps/decide-answer.ts";
import { isResult } from "./steps/operations.ts";
import type { EndEvents } from "./steps/run-changes.ts";

export interface ExecutedFunction extends CallTarget {
  app: App;
  retries: number;
  timeouts: { startMs: number | null; finishMs: number | null };
}

export interface FunctionCallsParts {
  caller: AppCaller;
  signingKey(): SigningKey | null;
  backoff: Backoff;
  endEvents: EndEvents;
  /** Reads the parameters of steps. */
  steps: {
    sleepUntil(operation: Parameters<CallFacts["sleepUntil"]>[0], now: number): number | string;
    wait(operation: Parameters<CallFacts["wait"]>[0], state: RunState, now: number, since: EventPlace): ReturnType<CallFacts["wait"]>;
    invoke(operation: Parameters<CallFacts["invoke"]>[0], state: RunState, now: number): ReturnType<CallFacts["invoke"]>;
  };
  now(): number;
}

export interface FunctionCall {
  entry: ClaimedEntry;
  context: RunContext;
  target: ExecutedFunction;
}

export interface FunctionCallOutcome {
  /** False when the app could not be reached, or did not answer. */
  hasAnswer: boolean;
  /** What the answer means for the run as it is by now. */
  decide(state: RunState): RunChange;
}

export class FunctionCalls {
  readonly #parts: FunctionCallsParts;
  readonly #places = new CallPlaces();

  constructor(parts: FunctionCallsParts) {
    this.#parts = parts;
  }

  async make(call: FunctionCall): Promise<FunctionCallOutcome> {
    const { run, lastSequence } = call.context;
    const begun = { sequence: lastSequence, at: this.#parts.now() };
    const since = this.#places.take(run.no, begun);
    const read = await this.#ask(call);
    const { answer } = read;
    if (answer.kind === "operations" && answer.operations.some(isResult)) this.#places.remember(run.no, begun);
    return {
      hasAnswer: answer.kind !== "failed" || answer.httpStatus !== null,
      decide: (state) => decideAnswer(state, answer, this.#facts(call, read, begun, since)),
    };
  }

  async #ask({ entry, context, target }: FunctionCall): Promise<ReadAnswer> {
    const { caller, signingKey, now } = this.#parts;
    try {
      const received = await caller.call(functionRequest({ entry, context, target, signingKey: signingKey(), now: now() }));
      return readAnswer(target.app.headers, received, now());
    } catch (error) {
      if (!(error instanceof NoAnswer)) throw error;
      return { answer: failed("NoAnswer", error.message, null, true), requestVersion: null };
    }
  }

  #facts({ entry, context, target }: FunctionCall, { requestVersion }: ReadAnswer, begun: EventPlace, since: EventPlace): CallFacts {
    const { backoff, endEvents, steps } = this.#parts;
    const now = this.#parts.now();
    return {
      entry,
      startedAt: begun.at,
      now,
      requestVersion: requestVersion ?? context.run.requestVersion,
      retries: target.retries,
      retryAt: (attempt, retryAfterMs) => backoff.retryAt(now, attempt, retryAfterMs),
      endEvents,
      sleepUntil: (operation) => steps.sleepUntil(operation, now),
      wait: (operation, state) => steps.wait(operation, state, now, placeForWait(state, since, begun)),
      invoke: (operation, state) => steps.invoke(operation, state, now),
    };
  }
}

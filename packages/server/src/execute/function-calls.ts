/** One call of a function: asks the app, and says what follows from its answer. */

import type {
  App,
  CallRecord,
  ClaimedEntry,
  EventPlace,
  LateCall,
  RunChange,
  RunContext,
  RunError,
  RunState,
} from "../store/contract/index.ts";
import { appAddress } from "./call/app-address.ts";
import type { AppCaller, AppRequest } from "./call/call-app.ts";
import { CallPlaces, placeForWait } from "./call/call-places.ts";
import { type CallTarget, functionRequest, type SigningKey } from "./call/function-request.ts";
import { HEADER_NAMES } from "./call/header-names.ts";
import { NoAnswer } from "./call/no-answer.ts";
import { type AppAnswer, failed, type ReadAnswer, readAnswer } from "./call/read-answer.ts";
import { shownAnswer } from "./call/shown-answer.ts";
import type { Backoff } from "./queue/backoff.ts";
import type { Answer, CallFacts } from "./steps/answers.ts";
import { decideAnswer } from "./steps/decide-answer.ts";
import { isResult, readError } from "./steps/operations.ts";
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
  /** What is left to tell when the run has ended meanwhile. */
  late(): Pick<LateCall, "call" | "failure">;
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
    const request = functionRequest({ ...call, signingKey: this.#parts.signingKey(), now: begun.at });
    const received = await this.#ask(request);
    const read = this.#read(call, received);
    const { answer } = read;
    if (answer.kind === "operations" && answer.operations.some(isResult)) this.#places.remember(run.no, begun);
    const told = callRecord(call, request, received, begun.at, this.#parts.now());
    return {
      hasAnswer: !(received instanceof NoAnswer),
      decide: (state) => {
        const change = decideAnswer(state, answer, this.#facts(call, read, begun, since));
        const isError = change.attempts?.length || change.end?.status === "failed";
        return { ...change, call: { ...told, outcome: isError ? "error" : "ok" } };
      },
      late: () => {
        const { stepId, attempt, startedAt, endedAt, httpStatus } = told;
        const error = errorIn(answer);
        return {
          call: { ...told, outcome: error ? "error" : "ok" },
          failure: error && { stepId, attempt, startedAt, endedAt, httpStatus, error },
        };
      },
    };
  }

  async #ask(request: AppRequest): Promise<AppAnswer | NoAnswer> {
    try {
      return await this.#parts.caller.call(request);
    } catch (error) {
      if (error instanceof NoAnswer) return error;
      throw error;
    }
  }

  #read({ target }: FunctionCall, received: AppAnswer | NoAnswer): ReadAnswer {
    if (!(received instanceof NoAnswer)) return readAnswer(target.app.headers, received, this.#parts.now());
    return { answer: failed("NoAnswer", received.message, null, true), requestVersion: null };
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

/** What went wrong in the app, if anything did. */
function errorIn(answer: Answer): RunError | null {
  if (answer.kind === "failed") return answer.error;
  const failing = answer.kind === "operations" ? answer.operations.find(({ error }) => error !== null) : undefined;
  return failing ? readError(failing.error, "The step failed.") : null;
}

/** How much of an answer is kept to be looked at. */
const ANSWER_UNITS_KEPT = 4_000;

function callRecord(
  { entry, context, target }: FunctionCall,
  { url }: AppRequest,
  received: AppAnswer | NoAnswer,
  startedAt: number,
  endedAt: number,
): Omit<CallRecord, "outcome"> {
  const path = appAddress(url)?.path ?? url;
  const request = { stepId: entry.stepId, attempt: entry.attempt, path, stepsGiven: context.steps.length };
  if (received instanceof NoAnswer) return { ...request, startedAt, endedAt, httpStatus: null, answer: null, answerLength: 0 };
  const { status, body, headers } = received;
  const isSdk = headers[HEADER_NAMES[target.app.headers].sdk] !== undefined;
  // Cutting a pair of surrogates in two leaves half a character.
  const kept = body.length > ANSWER_UNITS_KEPT ? body.slice(0, ANSWER_UNITS_KEPT).toWellFormed() : body;
  const answer = isSdk ? kept : shownAnswer(body);
  return { ...request, startedAt, endedAt, httpStatus: status, answer, answerLength: body.length };
}

/** One call of a function: calls the app, and decides what follows from its response. */

import { type EnvironmentId, type FunctionNo, secretsOf, withoutSecrets } from "@inlet/protocol";
import type { App, CallRecord, ClaimedEntry, LateCall, RunChange, RunContext, RunError, RunState } from "../store/contract/index.ts";
import { appAddress } from "./call/app-address.ts";
import type { AppCaller } from "./call/call-app.ts";
import { type CallTarget, type FunctionRequest, functionRequest, type Signing, type SigningKey } from "./call/function-request.ts";
import { HEADER_NAMES } from "./call/header-names.ts";
import { NO_RESPONSE, NoResponse } from "./call/no-response.ts";
import { readLogs, splitLogs } from "./call/read-logs.ts";
import { type AppResponse, failed, type ReadResponse, readResponse, statusOf } from "./call/read-response.ts";
import { RESPONSE_UNITS_KEPT, shownResponse } from "./call/shown-response.ts";
import type { Clock } from "./clock.ts";
import { readGateway } from "./gateway/read-gateway.ts";
import type { Backoff } from "./queue/backoff.ts";
import { holdsLease } from "./queue/holds-lease.ts";
import type { CallFacts, CallResponse } from "./steps/call-response.ts";
import { decideResponse } from "./steps/decide-response.ts";
import { type Operation, readError } from "./steps/operations.ts";
import type { EndEvents } from "./steps/run-changes.ts";

export interface ExecutedFunction extends CallTarget {
  app: App;
  retries: number;
  /** Its calls are held. */
  isPaused: boolean;
  timeouts: { startMs: number | null; finishMs: number | null };
  /** After a failed run, later runs of its order key wait. */
  holdsOrder: boolean;
}

/** Undefined for a function that is not registered. */
export type FunctionOf = (no: FunctionNo) => ExecutedFunction | undefined;

export interface FunctionCallsParts {
  caller: Pick<AppCaller, "call" | "fetch" | "stop">;
  signing(environmentId: EnvironmentId): Signing;
  backoff: Backoff;
  endEvents: EndEvents;
  /** Reads the parameters of steps. */
  steps: {
    sleepUntil(operation: Operation, now: number): number | string;
    wait(operation: Operation, state: RunState, since: number, now: number): ReturnType<CallFacts["wait"]>;
    invoke(operation: Operation, state: RunState, now: number): ReturnType<CallFacts["invoke"]>;
    /** Whether the function to invoke is unknown. */
    invokesUnknown(operation: Operation, environmentId: EnvironmentId): boolean;
    ask(operation: Operation, state: RunState, now: number): ReturnType<CallFacts["ask"]>;
  };
  clock: Clock;
}

export interface FunctionCall {
  entry: ClaimedEntry;
  context: RunContext;
  target: ExecutedFunction;
  /** The trace context sent to the app, while traces are exported. */
  traceparent?: string | undefined;
}

/** A call that was made, and its response. */
export interface MadeCall extends FunctionCall {
  request: FunctionRequest;
  received: AppResponse | NoResponse;
  /** Log lines that came with the response, as the SDK wrote them. */
  logText: string | null;
  startedAt: number;
  endedAt: number;
  /** False if the app could not be reached, or did not respond. */
  hasResponse: boolean;
}

type Sent = Pick<MadeCall, "request" | "received" | "logText">;

/** `unreachable`: the app did not respond. */
export type CallResult = "ok" | "error" | "unreachable";

export interface FunctionCallOutcome {
  result: CallResult;
  /** It asks for a function that is unknown. */
  invokesUnknown: boolean;
  /** What the response changes in the current state of the run. */
  decide(state: RunState): RunChange;
  /** What is recorded if the run has ended in the meantime. */
  late(): Pick<LateCall, "call" | "failure">;
}

export class FunctionCalls {
  readonly #parts: FunctionCallsParts;

  constructor(parts: FunctionCallsParts) {
    this.#parts = parts;
  }

  /** Calls the app. `signal` aborts the call. */
  async ask(call: FunctionCall, signal: AbortSignal): Promise<MadeCall> {
    const { clock } = this.#parts;
    const startedAt = clock.now();
    const sent = await this.#sendSigned(call, signal);
    return { ...call, ...sent, startedAt, endedAt: clock.now(), hasResponse: !(sent.received instanceof NoResponse) };
  }

  async #sendSigned(call: FunctionCall, signal: AbortSignal): Promise<Sent> {
    const signing = this.#parts.signing(call.entry.environmentId);
    if (signing.kind === "impossible")
      return { request: this.#request(call, null), received: new NoResponse(signing.reason), logText: null };
    const [first = null, ...further] = signing.kind === "signed" ? signing.keys : [];
    let sent = await this.#send(call, this.#request(call, first), signal);
    // An app that does not have the first key yet refuses before it runs anything: during rotation, the others are tried.
    for (const key of further) {
      if (!isUnauthorized(call.target, sent.received)) return sent;
      sent = await this.#send(call, this.#request(call, key), signal);
    }
    if (first === null || !isUnauthorized(call.target, sent.received)) return sent;
    // An app whose framework has parsed the body verifies what is left of its numbers.
    const rounded = [first, ...further].map((key) => this.#request(call, key, true));
    for (const request of rounded.filter(({ body }) => body !== sent.request.body)) {
      sent = await this.#send(call, request, signal);
      if (!isUnauthorized(call.target, sent.received)) break;
    }
    return sent;
  }

  #request(call: FunctionCall, signingKey: SigningKey | null, roundsNumbers = false): FunctionRequest {
    return functionRequest({ ...call, signingKey, roundsNumbers, now: this.#parts.clock.now() });
  }

  async #send(call: FunctionCall, made: FunctionRequest, signal: AbortSignal): Promise<Sent> {
    const request = { ...made, signal, maySend: () => holdsLease(call.entry, this.#parts.clock) };
    const received = await this.#parts.caller.call(request).catch((error: unknown) => {
      if (error instanceof NoResponse) return error;
      throw error;
    });
    if (received instanceof NoResponse) return { request, received, logText: null };
    return { request, ...splitLogs(call.target.app.headers, received) };
  }

  /** Interprets the response. */
  read(call: MadeCall): FunctionCallOutcome {
    const { entry, target, received, endedAt } = call;
    const read: ReadResponse =
      received instanceof NoResponse
        ? { answer: failed(NO_RESPONSE, received.message, null, true), requestVersion: null }
        : readResponse(target.app.headers, received, endedAt);
    const { answer } = read;
    const record = callRecord(call, answer);
    const { hasResponse } = call;
    const { steps } = this.#parts;
    return {
      invokesUnknown:
        answer.kind === "operations" && answer.operations.some((operation) => steps.invokesUnknown(operation, entry.environmentId)),
      result: hasResponse ? (errorIn(answer) ? "error" : "ok") : "unreachable",
      decide: (state) => {
        const change = decideResponse(state, answer, this.#facts(call, read));
        const isError = change.attempts?.length || change.end?.status === "failed";
        return { ...change, call: { ...record, outcome: isError ? "error" : "ok" } };
      },
      late: () => {
        const { stepId, attempt, startedAt, httpStatus } = record;
        const error = errorIn(answer);
        return {
          call: { ...record, outcome: error ? "error" : "ok" },
          failure: error && { stepId, attempt, startedAt, endedAt, httpStatus, error },
        };
      },
    };
  }

  #facts({ entry, context, target, request, startedAt, endedAt }: MadeCall, { requestVersion }: ReadResponse): CallFacts {
    const { backoff, endEvents, steps, clock } = this.#parts;
    const now = clock.now();
    return {
      entry,
      startedAt,
      endedAt,
      now,
      stepsGiven: context.steps.length,
      isPlanning: context.run.isParallel,
      fetchesState: request.fetchesState,
      requestVersion: requestVersion ?? context.run.requestVersion,
      retries: target.retries,
      retryAt: (attempt, retryAfterMs) => backoff.retryAt(now, attempt, retryAfterMs),
      endEvents,
      sleepUntil: (operation) => steps.sleepUntil(operation, now),
      wait: (operation, state, since) => steps.wait(operation, state, since, now),
      invoke: (operation, state) => steps.invoke(operation, state, now),
      ask: (operation, state) => steps.ask(operation, state, now),
    };
  }
}

function isUnauthorized({ app }: ExecutedFunction, received: AppResponse | NoResponse): boolean {
  return !(received instanceof NoResponse) && statusOf(app.headers, received) === 401;
}

/** The error in the app, if any. */
function errorIn(answer: CallResponse): RunError | null {
  if (answer.kind === "failed") return answer.error;
  const failing = answer.kind === "operations" ? answer.operations.find(({ error }) => error !== null) : undefined;
  return failing ? readError(failing.error, "The step failed.") : null;
}

/** The credentials of a step's request must not be recorded with the response that contains it. */
function secretsInOperation(operation: Operation): string[] {
  if (!["gateway", "aigateway"].includes(operation.op)) return [];
  const request = readGateway(operation);
  const key = operation.opts.auth_key;
  return [...(typeof request === "string" ? [] : secretsOf(request)), ...(typeof key === "string" && key !== "" ? [key] : [])];
}

function callRecord(call: MadeCall, read: CallResponse): Omit<CallRecord, "outcome"> {
  const { entry, context, target, request, received, logText, startedAt, endedAt } = call;
  const path = appAddress(request.url)?.path ?? request.url;
  const asked = { stepId: entry.stepId, attempt: entry.attempt, path, stepsGiven: context.steps.length };
  if (received instanceof NoResponse) return { ...asked, startedAt, endedAt, httpStatus: null, answer: null, answerLength: 0, logs: null };
  const { status, body, headers } = received;
  const isSdk = headers[HEADER_NAMES[target.app.headers].sdk] !== undefined;
  const secrets = read.kind === "operations" ? read.operations.flatMap(secretsInOperation) : [];
  const answer = isSdk ? withoutSecrets(body, secrets, RESPONSE_UNITS_KEPT) : shownResponse(body);
  const logs = logText === null ? null : readLogs(logText, secrets, endedAt);
  return { ...asked, startedAt, endedAt, httpStatus: status, answer, answerLength: body.length, logs };
}

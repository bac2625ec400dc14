/**
 * Makes the requests of `step.fetch` and `step.ai.infer`: under the address rules of apps, within limits of time and size, retried like
 * any step. A fetch succeeds with any status; an inference only with 2xx.
 */

import { type GatewayRequest, secretsOf, shownRequest, shownUrl, withoutSecrets } from "@inlet/protocol";
import type { CallRecord, ClaimedEntry, RunContext, RunState, StepKind } from "../../store/contract/index.ts";
import type { AppCaller } from "../call/call-app.ts";
import { NoResponse } from "../call/no-response.ts";
import { type AppResponse, readRetryAfter } from "../call/read-response.ts";
import { RESPONSE_UNITS_KEPT, shownResponse } from "../call/shown-response.ts";
import type { Clock } from "../clock.ts";
import type { FunctionCallOutcome } from "../function-calls.ts";
import type { Backoff } from "../queue/backoff.ts";
import { holdsLease } from "../queue/holds-lease.ts";
import type { EndEvents } from "../steps/run-changes.ts";
import { decideGateway, type GatewayOutcome } from "./decide-gateway.ts";

export interface GatewayCallsParts {
  caller: Pick<AppCaller, "fetch">;
  backoff: Backoff;
  endEvents: EndEvents;
  clock: Clock;
}

export interface GatewayCall {
  entry: ClaimedEntry;
  context: RunContext;
  kind: StepKind;
  request: GatewayRequest;
  retries: number;
}

const ERROR_NAMES: Readonly<Partial<Record<StepKind, string>>> = { infer: "AIGatewayError", fetch: "GatewayError" };

export class GatewayCalls {
  readonly #parts: GatewayCallsParts;

  constructor(parts: GatewayCallsParts) {
    this.#parts = parts;
  }

  /** `signal` aborts the request. */
  async ask(call: GatewayCall, signal: AbortSignal): Promise<{ hasResponse: boolean; outcome: FunctionCallOutcome }> {
    const { caller, clock } = this.#parts;
    const startedAt = clock.now();
    const maySend = () => holdsLease(call.entry, clock);
    const received = await caller.fetch({ ...call.request, peer: "server", signal, maySend }).catch((error: unknown) => {
      if (error instanceof NoResponse) return error;
      throw error;
    });
    return { hasResponse: !(received instanceof NoResponse), outcome: this.#read(call, received, startedAt, clock.now()) };
  }

  #read(call: GatewayCall, received: Received, startedAt: number, endedAt: number): FunctionCallOutcome {
    const { backoff, endEvents } = this.#parts;
    const { entry, request, retries } = call;
    const outcome = outcomeOf(call, received, endedAt);
    const isError = "error" in outcome;
    const record = { ...recordOf(call, received), startedAt, endedAt, outcome: isError ? "error" : "ok" } as const;
    const decide = (state: RunState) => {
      const held = state.entries.find(({ no }) => no === entry.no);
      if (!held) throw new Error("a response was decided on without its entry");
      const retryAt = (attempt: number, retryAfterMs: number | null) => backoff.retryAt(endedAt, attempt, retryAfterMs);
      const change = decideGateway(state, held, outcome, { request, startedAt, now: endedAt, retries, retryAt, endEvents });
      return { ...change, call: record };
    };
    const { stepId, attempt, httpStatus } = record;
    const failure = isError ? { stepId, attempt, startedAt, endedAt, httpStatus, error: outcome.error } : null;
    const result = received instanceof NoResponse ? "unreachable" : isError ? "error" : "ok";
    return { result, invokesUnknown: false, decide, late: () => ({ call: record, failure }) };
  }
}

type Received = (AppResponse & { url: string }) | NoResponse;

function outcomeOf({ kind, request }: GatewayCall, received: Received, now: number): GatewayOutcome {
  const name = ERROR_NAMES[kind] ?? "GatewayError";
  if (received instanceof NoResponse) {
    const message = withoutSecrets(received.message, secretsOf(request));
    return { error: { name, message }, httpStatus: null, retryAfterMs: null, mayRetry: true };
  }
  const { status, headers, body, url } = received;
  // Whoever may see runs sees results: the URL is there without its credentials.
  if (kind !== "infer")
    return { value: JSON.stringify({ data: { url: shownUrl(url), headers: joined(headers), body, status_code: status } }) };
  if (status >= 200 && status < 300) return { value: `{"data":${isJson(body) ? body : JSON.stringify(body)}}` };
  const message = `The provider answered with status ${status}: ${shownResponse(withoutSecrets(body, secretsOf(request), RESPONSE_UNITS_KEPT))}`;
  const after = headers["retry-after"];
  const retryAfterMs = readRetryAfter(typeof after === "string" ? after : undefined, now);
  return { error: { name, message }, httpStatus: status, retryAfterMs, mayRetry: true };
}

/** The record contains the origin, and no values of the query. */
function recordOf({ entry, context, request }: GatewayCall, received: Received): Omit<CallRecord, "startedAt" | "endedAt" | "outcome"> {
  const { url } = shownRequest(JSON.stringify(request));
  const asked = { stepId: entry.stepId, attempt: entry.attempt, path: url, stepsGiven: context.steps.length };
  if (received instanceof NoResponse) return { ...asked, httpStatus: null, answer: null, answerLength: 0, logs: null };
  const { status, body } = received;
  const shown = withoutSecrets(body, secretsOf(request), RESPONSE_UNITS_KEPT);
  return { ...asked, httpStatus: status, answer: shown, answerLength: body.length, logs: null };
}

function joined(headers: AppResponse["headers"]): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, Array.isArray(value) ? value.join(", ") : (value ?? "")]),
  );
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

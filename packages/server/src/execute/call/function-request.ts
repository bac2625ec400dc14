/** The request that calls a function: URL, headers in the set of the app's SDK, body, signature. */

import { type EnvironmentId, type KeyId, signBody, TRACEPARENT_HEADER } from "@inlet/protocol";
import type { ClaimedEntry, HeaderSet, RunContext } from "../../store/contract/index.ts";
import type { AppRequest } from "./call-app.ts";
import { callBody } from "./call-body.ts";
import { HEADER_NAMES } from "./header-names.ts";

export interface CallTarget {
  /** The URL of the function in the app. */
  url: string;
  uuid: string;
  retries: number;
  app: { headers: HeaderSet };
}

export interface SigningKey {
  id: KeyId;
  text: string;
  /** Null: valid in every environment. */
  environmentId: EnvironmentId | null;
}

/** How calls to apps of an environment are signed: not at all, on a dev server; with the first of the keys that the app accepts; or not possible. */
export type Signing = { kind: "unsigned" } | { kind: "signed"; keys: readonly SigningKey[] } | { kind: "impossible"; reason: string };

export interface FunctionCall {
  entry: ClaimedEntry;
  context: RunContext;
  target: CallTarget;
  /** The `traceparent` of the call itself, while traces are exported. Absent: the app gets that of the event. */
  traceparent?: string | undefined;
  /** Null: the app is told that a dev server calls, and nothing is signed. */
  signingKey: SigningKey | null;
  /** Numbers that a double cannot represent are rounded for every SDK. */
  roundsNumbers?: boolean;
  now: number;
}

export interface FunctionRequest extends AppRequest {
  /** The run's state is too large for the body: the SDK has to fetch it. */
  fetchesState: boolean;
}

export function functionRequest({
  entry,
  context,
  target,
  traceparent,
  signingKey,
  roundsNumbers = false,
  now,
}: FunctionCall): FunctionRequest {
  const stepId = entry.stepId ?? "step";
  const set = target.app.headers;
  const { text: body, fetchesState } = callBody({
    context,
    stepId,
    functionUuid: target.uuid,
    attempt: entry.attempt,
    maxAttempts: target.retries + 1,
    // A lease id is never reused: results of an abandoned call are distinguishable from those of its successor.
    callId: entry.leaseId,
    // Published SDKs serialise numbers again before they verify the signature; without a signature, they also get numbers as sent.
    exactNumbers: !roundsNumbers && (set === "service" || signingKey === null),
    isOwnSdk: set === "service",
  });
  const names = HEADER_NAMES[set];
  const headers: Record<string, string> = { "content-type": "application/json", "user-agent": "Inlet" };
  headers[names.requestVersion] = String(context.run.requestVersion);
  headers[names.runId] = context.run.id;
  headers[names.stepId] = stepId;
  headers[names.serverKind] = signingKey === null ? "dev" : "cloud";
  const trace = traceparent ?? context.events[0]?.trace;
  if (trace !== undefined) headers[TRACEPARENT_HEADER] = trace;
  if (signingKey !== null) headers[names.signature] = signBody(body, signingKey.text, Math.floor(now / 1_000));
  const url = entry.stepId === null ? target.url : withStep(target.url, stepId);
  return { method: "POST", url, headers, body, fetchesState };
}

function withStep(url: string, stepId: string): string {
  const target = new URL(url);
  target.searchParams.set("stepId", stepId);
  return target.href;
}

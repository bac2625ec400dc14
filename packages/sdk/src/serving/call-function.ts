/** POST: runs the function that a call names, and converts the result to the wire protocol. */

import { isFinal, NonRetriableError, retryAfterSeconds } from "../errors.ts";
import { CallLogs } from "../execution/call-logs.ts";
import type { Outcome } from "../execution/execute-call.ts";
import { type RunCallOptions, runCall } from "../execution/run-call.ts";
import type { InletFunction } from "../functions/inlet-function.ts";
import { decodeCall, encodeOutcome, encodeValue } from "../middleware/encoding.ts";
import type { Middleware } from "../middleware/middleware.ts";
import { type CallBody, readCallBody } from "../wire/call-body.ts";
import { HEADER } from "../wire/headers.ts";
import { hashStepId } from "../wire/sha1.ts";
import { toWireError } from "../wire/wire-error.ts";
import { type AppResponse, errorResponse, jsonResponse } from "./app-request.ts";
import { fetchRunState } from "./fetch-run-state.ts";
import type { ServedApp } from "./served-app.ts";

/** The `stepId` of a call for no particular step. */
const DISCOVERY = "step";
/** Identifies the function itself in operations. */
const FUNCTION_STEP = hashStepId("complete");

export async function callFunction(app: ServedApp, query: URLSearchParams, parsed: unknown): Promise<AppResponse> {
  const id = query.get("fnId");
  const fn = id === null ? undefined : app.byId.get(id);
  if (!fn) return functionMissing(app, id);
  let body = readCallBody(parsed);
  if (typeof body === "string") return errorResponse(400, "body_invalid", `Not a call of a function: ${body}`);
  if (body.useApi) body = await fetchRunState(app.settings, body);
  const stepId = query.get("stepId");
  const requestedStep = stepId === null || stepId === "" || stepId === DISCOVERY ? null : stepId;
  const logs = body.takesLogs && app.settings.sendLogs ? new CallLogs() : undefined;
  const { middleware } = app.client;
  const response = answerFor(await encodedCall(middleware, fn, body, { requestedStep, logs }), body);
  return logs && logs.lines.length > 0 ? withLogs(response, await logText(middleware, logs)) : response;
}

/** A value that cannot be decoded or encoded, for example without its key, fails the attempt. */
async function encodedCall(
  middleware: readonly Middleware[],
  fn: InletFunction,
  body: CallBody,
  options: RunCallOptions,
): Promise<Outcome> {
  try {
    return await encodeOutcome(middleware, await runCall(fn, await decodeCall(middleware, body), options));
  } catch (error) {
    return { kind: "threw", error, deferred: [] };
  }
}

/** The lines stand behind the response: status and body of the response itself are the same with and without them. */
function withLogs(response: AppResponse, text: string): AppResponse {
  return { ...response, headers: { ...response.headers, [HEADER.logs]: String(text.length) }, body: response.body + text };
}

/** In ASCII, so that the number of characters is also the number of bytes. Lines that cannot be encoded are left out: they fail no attempt. */
async function logText(middleware: readonly Middleware[], { lines, dropped }: CallLogs): Promise<string> {
  const encoded = Promise.all(lines.map(async (line) => ({ ...line, message: await encodeValue(middleware, line.message) })));
  const kept = await encoded.catch(() => []);
  const text = JSON.stringify({ lines: kept, dropped: dropped + lines.length - kept.length });
  return text.replace(/[^\0-\x7f]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

function functionMissing({ byId, client }: ServedApp, id: string | null): AppResponse {
  if (id === null) return errorResponse(400, "function_id_missing", "The query parameter fnId is missing");
  const known = [...byId.keys()].join(", ") || "none";
  // An older version of the app may respond while a newer one has registered the function.
  return errorResponse(404, "function_not_found", `App "${client.id}" has no function "${id}". It has: ${known}`, {
    [HEADER.noRetry]: "false",
  });
}

function answerFor(outcome: Outcome, body: CallBody): AppResponse {
  const { deferred } = outcome;
  switch (outcome.kind) {
    case "returned":
      return returned(outcome.data, deferred);
    case "threw":
      return threw(outcome.error, deferred);
    case "planned":
      return jsonResponse(206, JSON.stringify([...outcome.operations, ...deferred]));
    case "ran":
      return jsonResponse(
        206,
        `[${[outcome.step.text, ...deferred.map((one) => JSON.stringify(one))].join()}]`,
        outcome.step.retry && retryHeaders(outcome.step.retry),
      );
    case "step-missing":
      return stepMissing(outcome, body);
  }
}

/** Deferred functions can only be sent as operations: the end of the function is then one of them. */
function returned(data: unknown, deferred: Outcome["deferred"]): AppResponse {
  try {
    if (deferred.length === 0) return jsonResponse(200, JSON.stringify(data) ?? "null");
    return jsonResponse(206, JSON.stringify([...deferred, { op: "RunComplete", id: FUNCTION_STEP, data: data ?? null }]));
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    return threw(new NonRetriableError(`What the function returned cannot be kept as JSON: ${reason}`, { cause }), []);
  }
}

function threw(error: unknown, deferred: Outcome["deferred"]): AppResponse {
  const final = isFinal(error);
  const headers = retryHeaders({ isFinal: final, afterSeconds: retryAfterSeconds(error) });
  const failure = { op: final ? "StepFailed" : "StepError", id: FUNCTION_STEP, error: toWireError(error) };
  if (deferred.length > 0) return jsonResponse(206, JSON.stringify([...deferred, failure]), headers);
  return jsonResponse(final ? 400 : 500, JSON.stringify(toWireError(error)), headers);
}

function retryHeaders({ isFinal, afterSeconds }: { isFinal: boolean; afterSeconds: number | undefined }): Record<string, string> {
  return { [HEADER.noRetry]: String(isFinal), ...(afterSeconds === undefined ? {} : { [HEADER.retryAfter]: String(afterSeconds) }) };
}

function stepMissing({ requested, found }: { requested: string; found: string[] }, { runId }: CallBody): AppResponse {
  const error = {
    name: "StepNotFoundError",
    message: `Run ${runId} wants the step ${requested}, but the function did not reach it. Was its code changed, or is it not deterministic?`,
    requestedStep: requested,
    foundSteps: found,
  };
  return jsonResponse(500, JSON.stringify(error), { [HEADER.noRetry]: "false" });
}

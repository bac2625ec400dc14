/** The endpoint of an app: GET describes it, PUT registers it with the service, POST runs a function. */

import { canonicalJson } from "../wire/canonical-json.ts";
import { HEADER } from "../wire/headers.ts";
import { verifySignature } from "../wire/signing.ts";
import { type AppBody, type AppRequest, type AppResponse, BODY_BYTES_MAX, errorResponse, jsonResponse, queryOf } from "./app-request.ts";
import { callFunction } from "./call-function.ts";
import { introspect } from "./introspect.ts";
import { register } from "./register.ts";
import type { ServedApp } from "./served-app.ts";

/** The service retries: the error can be fixed on this side. */
const RETRY = { [HEADER.noRetry]: "false" };

const decoder = new TextDecoder("utf-8", { fatal: true });
const encoder = new TextEncoder();

/** Never throws: an unexpected error becomes a 500 that the service retries. */
export async function handleRequest(app: ServedApp, request: AppRequest): Promise<AppResponse> {
  try {
    return await answerTo(app, request);
  } catch (error) {
    app.settings.logger.error("inlet: the endpoint failed", error);
    return errorResponse(500, "internal_error", error instanceof Error ? error.message : String(error), RETRY);
  }
}

async function answerTo(app: ServedApp, request: AppRequest): Promise<AppResponse> {
  const { method } = request;
  if (method !== "POST" && method !== "PUT" && method !== "GET") {
    return errorResponse(405, "method_not_allowed", `${method} is not supported here`, { allow: "GET, POST, PUT" });
  }
  const body = method === "GET" ? new Uint8Array() : await request.body();
  if (body === "too-large" || (body instanceof Uint8Array && body.length > BODY_BYTES_MAX)) {
    return errorResponse(413, "body_too_large", `The body is larger than ${BODY_BYTES_MAX} bytes`, { connection: "close" });
  }
  const refusal = app.settings.isDev ? null : await signatureFault(app, request, body);
  if (method === "GET") return introspect(app, { isTrusted: refusal === null });
  // With a fixed URL there is nothing to forge: anyone may sync such an app, with a plain `curl -X PUT`.
  if (refusal && !(method === "PUT" && app.serveOrigin)) return refusal;
  const parsed = parse(body);
  if (!parsed.ok) return errorResponse(400, "body_invalid", parsed.reason);
  if (method === "PUT") return register(app, request, { body: parsed.value, isTrusted: refusal === null });
  const query = queryOf(request.url);
  if (query.get("probe") === "trust") return jsonResponse(200, "null");
  return callFunction(app, query, parsed.value);
}

async function signatureFault(app: ServedApp, request: AppRequest, body: Exclude<AppBody, "too-large">): Promise<AppResponse | null> {
  const keys = app.settings.signingKeys;
  if (keys.length === 0) {
    const message = "No signing key. Set INLET_SIGNING_KEY or pass signingKey; with a local dev server set INLET_DEV=1 instead";
    return errorResponse(500, "signing_key_missing", message, RETRY);
  }
  const bytes = body instanceof Uint8Array ? body : encoder.encode(canonicalJson(body.parsed));
  const verified = await verifySignature(request.header(HEADER.signature), bytes, keys);
  return verified.ok ? null : errorResponse(401, "signature_invalid", `Refused: ${verified.reason}`, RETRY);
}

function parse(body: Exclude<AppBody, "too-large">): { ok: true; value: unknown } | { ok: false; reason: string } {
  if (!(body instanceof Uint8Array)) return { ok: true, value: body.parsed };
  if (body.length === 0) return { ok: true, value: {} };
  try {
    return { ok: true, value: JSON.parse(decoder.decode(body)) };
  } catch (error) {
    return { ok: false, reason: `The body is not JSON: ${error instanceof Error ? error.message : String(error)}` };
  }
}

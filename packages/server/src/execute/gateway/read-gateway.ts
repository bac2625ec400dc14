/** Reads the request of a `Gateway` or `AIGateway` operation. AI providers take their key in different headers. */

import type { GatewayRequest } from "@inlet/protocol";
import type { Operation } from "../steps/operations.ts";

/** Headers of the connection, which the service sets itself. */
const CONNECTION_HEADERS: ReadonlySet<string> = new Set([
  "host",
  "connection",
  "content-length",
  "transfer-encoding",
  "keep-alive",
  "upgrade",
  "expect",
  "te",
  "trailer",
  // The response is stored as text.
  "accept-encoding",
]);
/** Not those that `fetch` refuses, too: they are about the connection. */
const METHOD = /^(?!(?:connect|trace|track)$)[a-z]{1,20}$/i;
const HEADER_NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;

const BEDROCK_KEY_MISSING =
  "the service has no AWS credentials to sign a request to Bedrock. Use a Bedrock API key, or call Bedrock with the AWS SDK in step.ai.wrap or step.run.";

/** A sentence if there is no valid request. */
export function readGateway(operation: Operation): GatewayRequest | string {
  const { opts } = operation;
  const url = typeof opts.url === "string" ? URL.parse(opts.url) : null;
  if (!url || !["http:", "https:"].includes(url.protocol)) return "its url is not an http(s) URL.";
  const method = typeof opts.method === "string" && opts.method !== "" ? opts.method : isInference(operation) ? "POST" : "GET";
  if (!METHOD.test(method)) return `its method ${JSON.stringify(method)} cannot be used.`;
  const headers = readHeaders(opts.headers);
  if (typeof headers === "string") return headers;
  const given = { method: method.toUpperCase(), url: url.href, body: readBody(opts.body) };
  if (!isInference(operation)) return { ...given, headers };
  if (opts.format === "bedrock" && !opts.auth_key && headers.authorization === undefined) return BEDROCK_KEY_MISSING;
  return { ...given, headers: { "content-type": "application/json", ...headers, ...keyHeader(opts.format, opts.auth_key) } };
}

export function isInference({ op }: Operation): boolean {
  return op === "aigateway";
}

function readHeaders(given: unknown): Record<string, string> | string {
  const headers: Record<string, string> = {};
  for (const [name, value] of Object.entries(typeof given === "object" && given !== null ? given : {})) {
    if (CONNECTION_HEADERS.has(name.toLowerCase())) continue;
    if (!HEADER_NAME.test(name) || typeof value !== "string" || /[\r\n\0]/.test(value))
      return `its header ${JSON.stringify(name)} cannot be sent.`;
    headers[name.toLowerCase()] = value;
  }
  return headers;
}

function readBody(body: unknown): string | null {
  if (body === undefined || body === null || body === "") return null;
  return typeof body === "string" ? body : JSON.stringify(body);
}

function keyHeader(format: unknown, key: unknown): Record<string, string> {
  if (typeof key !== "string" || key === "") return {};
  if (format === "anthropic") return { "x-api-key": key };
  if (format === "gemini") return { "x-goog-api-key": key };
  if (format === "azure-openai") return { "api-key": key };
  return { authorization: `Bearer ${key}` };
}

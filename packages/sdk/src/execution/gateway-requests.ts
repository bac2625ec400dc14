/** Steps whose requests the service makes: `step.fetch` and `step.ai.infer`. */

import type { FetchOptions, InferOptions } from "../functions/ai-tools.ts";
import type { StepRequest } from "./found-step.ts";

/** A response as the service stores it. */
export interface KeptResponse {
  status_code: number;
  headers: Record<string, string>;
  body: string;
}

/** Statuses of responses that cannot have a body. */
const WITHOUT_BODY = new Set([101, 204, 205, 304]);
const LATIN_1_MAX = 0xff;

export function fetchRequest(url: string | URL, { method = "GET", headers = {}, body }: FetchOptions = {}): StepRequest {
  if (!URL.canParse(String(url))) throw new TypeError(`step.fetch needs a whole address, not "${url}"`);
  const { href, hostname } = new URL(url);
  const opts = { url: href, method, headers: { ...headers }, ...(body === undefined ? {} : { body }) };
  return { id: `step.fetch: ${hostname}`, op: "Gateway", opts, revive: (kept) => responseOf(kept as KeptResponse) };
}

/** Servers send statuses, such as 999, and headers that `fetch` passes on, but that the constructor of Response refuses. */
function responseOf({ status_code: status, headers, body }: KeptResponse): Response {
  const isUsual = status >= 200 && status <= 599;
  const values = Object.entries(headers).map(([name, value]): [string, string] => [name, byteText(value)]);
  // Of a text, the constructor would add a type.
  const bytes = WITHOUT_BODY.has(status) ? null : new TextEncoder().encode(body);
  const response = new Response(bytes, { status: isUsual ? status : 200, headers: values });
  return isUsual ? response : Object.defineProperties(response, { status: { value: status }, ok: { value: false } });
}

/** One character for each byte of a value in UTF-8, as `fetch` returns it. */
function byteText(value: string): string {
  if (![...value].some((character) => character.charCodeAt(0) > LATIN_1_MAX)) return value;
  return String.fromCharCode(...new TextEncoder().encode(value));
}

export function inferRequest(id: string, { model, body }: InferOptions): StepRequest {
  if (!model?.url || !URL.canParse(model.url)) throw new TypeError(`step.ai.infer("${id}") needs a model with a whole address as its url`);
  const { url, headers = {}, authKey, format } = model;
  return { id, op: "AIGateway", opts: { type: "step.ai.infer", url, headers, auth_key: authKey, format, body } };
}

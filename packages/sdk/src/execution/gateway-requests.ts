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

export function fetchRequest(url: string | URL, { method = "GET", headers = {}, body }: FetchOptions = {}): StepRequest {
  if (!URL.canParse(String(url))) throw new TypeError(`step.fetch needs a whole address, not "${url}"`);
  const { href, hostname } = new URL(url);
  const opts = { url: href, method, headers: { ...headers }, ...(body === undefined ? {} : { body }) };
  return { id: `step.fetch: ${hostname}`, op: "Gateway", opts, revive: (kept) => responseOf(kept as KeptResponse) };
}

function responseOf({ status_code, headers, body }: KeptResponse): Response {
  return new Response(WITHOUT_BODY.has(status_code) ? null : body, { status: status_code, headers });
}

export function inferRequest(id: string, { model, body }: InferOptions): StepRequest {
  if (!model?.url || !URL.canParse(model.url)) throw new TypeError(`step.ai.infer("${id}") needs a model with a whole address as its url`);
  const { url, headers = {}, authKey, format } = model;
  return { id, op: "AIGateway", opts: { type: "step.ai.infer", url, headers, auth_key: authKey, format, body } };
}

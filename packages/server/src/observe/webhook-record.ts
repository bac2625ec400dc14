/** The record of a webhook request: what came in, and what became of it. Headers that carry credentials are masked first. */

import { isUtf8 } from "node:buffer";
import type { EnvironmentId, Refusal, WebhookRequestId } from "@inlet/protocol";
import type { NewWebhookRequest, Webhook } from "../store/contract/index.ts";

export interface SeenRequest {
  id: WebhookRequestId;
  webhook: Webhook;
  receivedAt: number;
  ip: string;
  rawHeaders: readonly string[];
  query: string;
  contentType: string | undefined;
}

export interface SeenBody {
  raw: string;
  /** The bytes, when `raw` is not exactly their text. */
  rawBase64?: string;
}

/** What the transform stage made of it; null when the request did not get that far. */
export interface SeenTransform {
  body: SeenBody | null;
  logs: string[];
  durationMs: number;
}

export interface Ending {
  /** Null when the event was accepted. */
  refused: Refusal | null;
  deliveredTo: EnvironmentId;
}

const MASK = "***";

export function webhookRecord(
  seen: SeenRequest,
  transformed: SeenTransform | null,
  { refused, deliveredTo }: Ending,
  maskedHeaders: ReadonlySet<string>,
): NewWebhookRequest {
  return {
    id: seen.id,
    webhookId: seen.webhook.id,
    environmentId: seen.webhook.environmentId,
    receivedAt: seen.receivedAt,
    ip: seen.ip,
    method: "POST",
    headers: JSON.stringify(masked(seen.rawHeaders, maskedHeaders)),
    query: seen.query,
    contentType: seen.contentType ?? null,
    body: transformed?.body?.raw ?? null,
    bodyBase64: transformed?.body?.rawBase64 ?? null,
    status: refused?.status ?? 200,
    outcome: refused?.code ?? "accepted",
    error: refused?.message ?? null,
    deliveredTo,
    transformVersion: seen.webhook.version,
    durationMs: transformed?.durationMs ?? 0,
    logs: JSON.stringify(transformed?.logs ?? []),
  };
}

/** The body as it came: the text that was read from it, if it could be, and the bytes wherever that text is not them. */
export function seenBody(bytes: Buffer, read: SeenBody | null, contentEncoding: string | undefined): SeenBody {
  const isText = !contentEncoding && (read !== null || isUtf8(bytes));
  return isText ? (read ?? { raw: bytes.toString() }) : { raw: read?.raw ?? bytes.toString(), rawBase64: bytes.toString("base64") };
}

/** Names and values in turn; `maskedHeaders` are names in lower case. */
function masked(rawHeaders: readonly string[], maskedHeaders: ReadonlySet<string>): readonly string[] {
  if (maskedHeaders.size === 0) return rawHeaders;
  return rawHeaders.map((text, at) => (at % 2 === 1 && maskedHeaders.has((rawHeaders[at - 1] ?? "").toLowerCase()) ? MASK : text));
}

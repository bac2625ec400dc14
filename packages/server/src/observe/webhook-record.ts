/** The record of a webhook request: what came in, and what became of it. Headers that carry credentials are masked first. */

import { isUtf8 } from "node:buffer";
import type { EnvironmentId, Refusal, WebhookRequestId } from "@inlet/protocol";
import type { NewWebhookRequest, Webhook } from "../store/contract/index.ts";
import { maskingFor } from "./mask-credentials.ts";

export interface SeenRequest {
  id: WebhookRequestId;
  webhook: Webhook;
  method: string;
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
  /** Null when the event was accepted, or a handshake answered. */
  refused: Refusal | null;
  /** Of a request that is not refused: 200 and `accepted` unless given. */
  status?: number;
  outcome?: string;
  deliveredTo: EnvironmentId;
  /** See the contract. */
  verifiedAt?: number | null;
}

export function webhookRecord(
  seen: SeenRequest,
  transformed: SeenTransform | null,
  { refused, deliveredTo, status = 200, outcome = "accepted", verifiedAt = null }: Ending,
  maskedHeaders: ReadonlySet<string>,
): NewWebhookRequest {
  const masking = maskingFor(seen.webhook, maskedHeaders);
  return {
    id: seen.id,
    webhookId: seen.webhook.id,
    environmentId: seen.webhook.environmentId,
    receivedAt: seen.receivedAt,
    ip: seen.ip,
    method: seen.method,
    headers: JSON.stringify(masking.headers(seen.rawHeaders)),
    query: masking.query(seen.query),
    contentType: seen.contentType ?? null,
    body: transformed?.body?.raw ?? null,
    bodyBase64: transformed?.body?.rawBase64 ?? null,
    status: refused?.status ?? status,
    outcome: refused?.code ?? outcome,
    error: refused ? masking.text(refused.message) : null,
    deliveredTo,
    transformVersion: seen.webhook.version,
    durationMs: transformed?.durationMs ?? 0,
    logs: JSON.stringify((transformed?.logs ?? []).map(masking.text)),
    verifiedAt,
  };
}

/** The body as it came: the text that was read from it, if it could be, and the bytes wherever that text is not them. */
export function seenBody(bytes: Buffer, read: SeenBody | null, contentEncoding: string | undefined): SeenBody {
  const isText = !contentEncoding && (read !== null || isUtf8(bytes));
  return isText ? (read ?? { raw: bytes.toString() }) : { raw: read?.raw ?? bytes.toString(), rawBase64: bytes.toString("base64") };
}

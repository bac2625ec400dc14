/** The record of a webhook request: the request and its outcome. Headers with credentials are masked first. */

import { createHash } from "node:crypto";
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
  /** It was found in what the provider lists. */
  isReconciled: boolean;
}

export interface SeenBody {
  raw: string;
  /** The bytes, if `raw` does not represent them exactly. */
  rawBase64?: string;
}

/** The result of the transform stage; null if the request did not get that far. */
export interface SeenTransform {
  body: SeenBody | null;
  logs: string[];
  durationMs: number;
}

export interface Ending {
  /** Null if the event was accepted, or a handshake answered. */
  refused: Refusal | null;
  /** For a request that is not refused; default 200 and `accepted`. */
  status?: number;
  outcome?: string;
  deliveredTo: EnvironmentId;
  /** See the contract. */
  verifiedAt?: number | null;
  /** See the contract. */
  bodyKey?: string | null;
}

export function webhookRecord(
  seen: SeenRequest,
  transformed: SeenTransform | null,
  { refused, deliveredTo, status = 200, outcome = "accepted", verifiedAt = null, bodyKey = null }: Ending,
  maskedHeaders: ReadonlySet<string>,
): NewWebhookRequest {
  const masking = maskingFor(seen, maskedHeaders);
  return {
    id: seen.id,
    webhookId: seen.webhook.id,
    environmentId: seen.webhook.environmentId,
    receivedAt: seen.receivedAt,
    ip: seen.ip,
    method: seen.method,
    headers: JSON.stringify(masking.headers()),
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
    isReconciled: seen.isReconciled,
    bodyKey,
  };
}

/** Bodies with the same key have the same text. */
export function bodyKeyOf(raw: string): string {
  return createHash("sha256").update(raw).digest("base64url");
}

/** The body as received: its text, if it could be decoded, and the bytes if the text does not represent them. */
export function seenBody(bytes: Buffer, read: SeenBody | null): SeenBody {
  const { raw } = read ?? { raw: bytes.toString() };
  return Buffer.from(raw).equals(bytes) ? { raw } : { raw, rawBase64: bytes.toString("base64") };
}

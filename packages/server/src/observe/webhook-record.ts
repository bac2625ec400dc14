/** The record of a webhook request: what came in, and what became of it. Headers that carry credentials are masked first. */

import type { EnvironmentId, Refusal, WebhookRequestId } from "@inlet/protocol";
import type { NewWebhookRequest, Webhook } from "../store/contract/index.ts";

export interface SeenRequest {
  id: WebhookRequestId;
  webhook: Webhook;
  receivedAt: number;
  ip: string;
  headers: Readonly<Record<string, string>>;
  query: Readonly<Record<string, readonly string[]>>;
  contentType: string | undefined;
}

/** What the transform stage made of it; null when the request did not get that far. */
export interface SeenTransform {
  body: { raw: string; rawBase64?: string } | null;
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
    headers: JSON.stringify(masked(seen.headers, maskedHeaders)),
    query: JSON.stringify(seen.query),
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

/** `maskedHeaders` are names in lower case. */
function masked(headers: Readonly<Record<string, string>>, maskedHeaders: ReadonlySet<string>): Readonly<Record<string, string>> {
  if (maskedHeaders.size === 0) return headers;
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, maskedHeaders.has(name.toLowerCase()) ? MASK : value]));
}

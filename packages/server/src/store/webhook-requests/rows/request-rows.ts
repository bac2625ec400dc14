/**
 * Converts a row of the recorded webhook requests to the contract's WebhookRequest.
 *
 * Headers and query are stored as received: a JSON list, and the text with its question mark. Records of the first version contain JSON
 * objects instead, and the bytes of the body after decoding; they are read as the closest equivalent request.
 */

import type { EnvironmentId, EventId, WebhookId, WebhookRequestId } from "@inlet/protocol";
import type { WebhookRequest } from "../../contract/index.ts";

export interface RequestRow {
  sequence: number;
  environment_id: number;
  webhook_id: string;
  request_id: string;
  received_at: number;
  ip: string;
  method: string;
  headers: string;
  query: string;
  content_type: string | null;
  body: string | null;
  body_base64: string | null;
  status: number;
  outcome: string;
  error: string | null;
  event_id: string | null;
  delivered_to: number;
  transform_version: number;
  duration_ms: number;
  logs: string;
  verified_at: number | null;
  reconciled: number;
  body_key: string | null;
}

export function bytesOfRequest({ headers, query, body, body_base64, logs }: RequestRow): number {
  return headers.length + query.length + (body?.length ?? 0) + (body_base64?.length ?? 0) + logs.length;
}

export function toRequest(row: RequestRow): WebhookRequest {
  return {
    sequence: row.sequence,
    environmentId: row.environment_id as EnvironmentId,
    webhookId: row.webhook_id as WebhookId,
    id: row.request_id as WebhookRequestId,
    receivedAt: row.received_at,
    ip: row.ip,
    method: row.method,
    headers: readHeaders(row.headers),
    query: readQuery(row.query),
    contentType: row.content_type,
    body: row.body,
    bodyBase64: row.body_base64,
    status: row.status,
    outcome: row.outcome,
    error: row.error,
    eventId: row.event_id as EventId | null,
    deliveredTo: row.delivered_to as EnvironmentId,
    transformVersion: row.transform_version,
    durationMs: row.duration_ms,
    logs: row.logs,
    verifiedAt: row.verified_at,
    isReconciled: row.reconciled === 1,
    bodyKey: row.body_key,
  };
}

/** As stored in the column; the question mark distinguishes it from the JSON of the first version. */
export function writeQuery(query: string): string {
  return `?${query}`;
}

function readQuery(text: string): string {
  if (!text.startsWith("{")) return text.slice(1);
  const lists = Object.entries(JSON.parse(text) as Record<string, string[]>);
  return new URLSearchParams(lists.flatMap(([name, values]) => values.map((value): [string, string] => [name, value]))).toString();
}

function readHeaders(text: string): string {
  if (!text.startsWith("{")) return text;
  const headers = Object.entries(JSON.parse(text) as Record<string, string>);
  return JSON.stringify(headers.filter(([name]) => name !== "Content-Encoding").flat());
}

/** Reads the record of webhook requests, on the read thread. */

import type { DatabaseSync, SQLInputValue } from "node:sqlite";
import type { EnvironmentId, EventId, WebhookId, WebhookRequestId } from "@inlet/protocol";
import type { EventCursor, WebhookRequest, WebhookRequestListParams } from "../contract/index.ts";

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
}

interface RequestGetParams {
  environmentId: EnvironmentId;
  webhookId: WebhookId;
  id: WebhookRequestId;
}

export function getRequest(db: DatabaseSync, { environmentId, webhookId, id }: RequestGetParams): WebhookRequest | null {
  const row = db
    .prepare("SELECT * FROM webhook_requests WHERE environment_id = ? AND webhook_id = ? AND request_id = ?")
    .get(environmentId, webhookId, id);
  return row ? toRequest(row as unknown as RequestRow) : null;
}

export function listRequests(db: DatabaseSync, params: WebhookRequestListParams): { requests: WebhookRequest[]; next: EventCursor | null } {
  const where = ["environment_id = ?", "webhook_id = ?"];
  const values: SQLInputValue[] = [params.environmentId, params.webhookId];
  const require = (condition: string, ...bound: SQLInputValue[]) => {
    where.push(condition);
    values.push(...bound);
  };
  if (params.after) require("(received_at, sequence) < (?, ?)", params.after.receivedAt, params.after.sequence);
  if (params.from !== undefined) require("received_at >= ?", params.from);
  if (params.to !== undefined) require("received_at < ?", params.to);
  if (params.outcome !== undefined) require("outcome = ?", params.outcome);
  const rows = db
    .prepare(`
      SELECT * FROM webhook_requests INDEXED BY webhook_requests_by_time
      WHERE ${where.join(" AND ")} ORDER BY received_at DESC, sequence DESC LIMIT ?`)
    .all(...values, params.limit + 1) as unknown as RequestRow[];
  const requests = rows.slice(0, params.limit).map(toRequest);
  const last = requests.at(-1);
  const more = rows.length > params.limit && last;
  return { requests, next: more ? { receivedAt: last.receivedAt, sequence: last.sequence } : null };
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
    headers: row.headers,
    query: row.query,
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
  };
}

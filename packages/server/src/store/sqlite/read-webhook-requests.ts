/** Reads the record of webhook requests, on the read thread. */

import type { DatabaseSync, SQLInputValue } from "node:sqlite";
import type { EnvironmentId, WebhookId, WebhookRequestId } from "@inlet/protocol";
import type { EventCursor, WebhookRequest, WebhookRequestListParams } from "../contract/index.ts";
import { type RequestRow, toRequest } from "../rows/request-rows.ts";

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

/** The record of webhook requests in PostgreSQL. */

import {
  type EventCursor,
  fromStoreText,
  type WebhookRequest,
  type WebhookRequestListParams,
  type WebhookRequestStore,
} from "../contract/index.ts";
import { type RequestRow, toRequest } from "../rows/request-rows.ts";
import { Conditions } from "./conditions.ts";
import type { Database } from "./database.ts";
import type { GroupWriter } from "./group-writer.ts";

export function webhookRequestStore(database: Database, writer: GroupWriter): WebhookRequestStore {
  return {
    webhookRequestInsert: (request) =>
      writer.submit((draft) => {
        draft.addRequest(request, null);
        return () => undefined;
      }),
    async webhookRequestGet({ environmentId, webhookId, id }) {
      const [row] = await database.query<RequestRow>(
        "SELECT * FROM webhook_requests WHERE environment_id = $1 AND webhook_id = $2 AND request_id = $3",
        [environmentId, webhookId, id],
      );
      return row ? readRequest(row) : null;
    },
    webhookRequestList: (params) => listRequests(database, params),
    // Nodes may sweep at the same time: each takes what the other has not locked.
    async webhookRequestExpireMany({ receivedUntil, limit }) {
      const rows = await database.query(
        `DELETE FROM webhook_requests WHERE sequence IN (
           SELECT sequence FROM (SELECT sequence, received_at FROM webhook_requests ORDER BY sequence LIMIT $2) AS oldest
           WHERE received_at <= $1)
         RETURNING 1`,
        [receivedUntil, limit],
      );
      return rows.length;
    },
  };
}

async function listRequests(
  database: Database,
  params: WebhookRequestListParams,
): Promise<{ requests: WebhookRequest[]; next: EventCursor | null }> {
  const where = new Conditions();
  where.add("environment_id = ?", params.environmentId);
  where.add("webhook_id = ?", params.webhookId);
  if (params.after) where.add("(received_at, sequence) < (?, ?)", params.after.receivedAt, params.after.sequence);
  if (params.from !== undefined) where.add("received_at >= ?", params.from);
  if (params.to !== undefined) where.add("received_at < ?", params.to);
  if (params.outcome !== undefined) where.add("outcome = ?", params.outcome);
  const rows = await database.query<RequestRow>(
    `SELECT * FROM webhook_requests WHERE ${where.text} ORDER BY received_at DESC, sequence DESC LIMIT ${params.limit + 1}`,
    where.values,
  );
  const requests = rows.slice(0, params.limit).map(readRequest);
  const last = requests.at(-1);
  const more = rows.length > params.limit && last;
  return { requests, next: more ? { receivedAt: last.receivedAt, sequence: last.sequence } : null };
}

function readRequest(row: RequestRow): WebhookRequest {
  const text = (value: string | null) => (value === null ? null : fromStoreText(value));
  return toRequest({ ...row, content_type: text(row.content_type), body: text(row.body), error: text(row.error) });
}

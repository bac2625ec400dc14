/** Reads recorded webhook requests in commit order, on the read thread. */

import type { DatabaseSync } from "node:sqlite";
import type { EnvironmentId, WebhookId } from "@inlet/protocol";
import type { WebhookRequest, WebhookRequestFollowParams } from "../../contract/index.ts";
import { PAGE_BYTES_MAX, sliceWithin } from "../../shared/byte-bounds.ts";
import { bytesOfRequest, type RequestRow, toRequest } from "../rows/request-rows.ts";

/** Rows examined per call, so that other webhooks' traffic does not delay a caller. */
const WINDOW_ROWS = 2_000;
/** A transform may delay a request by this much after its receipt, while others overtake it. */
const OVERTAKEN_MS = 60_000;

export function followRequests(
  db: DatabaseSync,
  { environmentId, webhookId, after, limit, bytesMax = PAGE_BYTES_MAX }: WebhookRequestFollowParams,
): { requests: WebhookRequest[]; reached: number } {
  const last = lastRequestSequence(db);
  // Records expire. When all of them have, SQLite numbers from the beginning again.
  const from = after > last ? 0 : after;
  const until = Math.min(from + WINDOW_ROWS, last);
  const found = db
    .prepare(`
      SELECT * FROM webhook_requests NOT INDEXED
      WHERE sequence > ? AND sequence <= ? AND environment_id = ? AND webhook_id = ? ORDER BY sequence LIMIT ?`)
    .iterate(from, until, environmentId, webhookId, limit) as unknown as Iterable<RequestRow>;
  const { rows, isEnd } = sliceWithin(found, limit, bytesMax, bytesOfRequest);
  const lastRead = rows.at(-1);
  return { requests: rows.map(toRequest), reached: !isEnd && lastRead ? lastRead.sequence : until };
}

export function lastRequestSequence(db: DatabaseSync): number {
  const row = db.prepare("SELECT max(sequence) AS last FROM webhook_requests").get() as { last: number | null };
  return row.last ?? 0;
}

export function requestSequenceBefore(
  db: DatabaseSync,
  { environmentId, webhookId, receivedFrom }: { environmentId: EnvironmentId; webhookId: WebhookId; receivedFrom: number },
): number {
  // One received later may have a smaller number.
  const row = db
    .prepare(`
      SELECT min(sequence) AS first FROM (
        SELECT sequence FROM webhook_requests INDEXED BY webhook_requests_by_time
        WHERE environment_id = ? AND webhook_id = ? AND received_at >= ? ORDER BY received_at LIMIT 1000)`)
    .get(environmentId, webhookId, receivedFrom - OVERTAKEN_MS) as { first: number | null };
  return row.first === null ? lastRequestSequence(db) : row.first - 1;
}

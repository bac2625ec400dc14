/** Reads recorded webhook requests in commit order, on the read thread. */

import type { DatabaseSync } from "node:sqlite";
import type { EnvironmentId, WebhookId } from "@inlet/protocol";
import type { WebhookRequest, WebhookRequestFollowParams } from "../../contract/index.ts";
import { PAGE_BYTES_MAX, sliceWithin } from "../../shared/byte-bounds.ts";
import { OVERTAKEN_ROWS, overtakenSince, reachedBy, sequenceBeforeFirst, windowEnd } from "../../shared/following.ts";
import { bytesOfRequest, type RequestRow, toRequest } from "../rows/request-rows.ts";

export function followRequests(
  db: DatabaseSync,
  { environmentId, webhookId, after, limit, bytesMax = PAGE_BYTES_MAX }: WebhookRequestFollowParams,
): { requests: WebhookRequest[]; reached: number } {
  const until = windowEnd(after, lastRequestSequence(db));
  const found = db
    .prepare(`
      SELECT * FROM webhook_requests NOT INDEXED
      WHERE sequence > ? AND sequence <= ? AND environment_id = ? AND webhook_id = ? ORDER BY sequence LIMIT ?`)
    .iterate(after, until, environmentId, webhookId, limit) as unknown as Iterable<RequestRow>;
  const slice = sliceWithin(found, limit, bytesMax, bytesOfRequest);
  return { requests: slice.rows.map(toRequest), reached: reachedBy(slice, after, until) };
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
        WHERE environment_id = ? AND webhook_id = ? AND received_at >= ? ORDER BY received_at LIMIT ${OVERTAKEN_ROWS})`)
    .get(environmentId, webhookId, overtakenSince(receivedFrom)) as { first: number | null };
  return sequenceBeforeFirst(row.first, lastRequestSequence(db));
}

/** The record of webhook requests in PostgreSQL. */

import {
  type EventCursor,
  fromStoreText,
  type WebhookRequest,
  type WebhookRequestFollowParams,
  type WebhookRequestListParams,
  type WebhookRequestStore,
} from "../contract/index.ts";
import { PAGE_BYTES_MAX } from "../rows/byte-bounds.ts";
import { pageOfRequests, type RequestPage } from "../rows/request-pages.ts";
import { type RequestRow, toRequest } from "../rows/request-rows.ts";
import { Conditions } from "./conditions.ts";
import type { Database } from "./database.ts";
import type { GroupWriter } from "./group-writer.ts";
import { tablesUntil } from "./partitions.ts";
import { boundedSlice, REQUEST_BYTES, rowsWithin } from "./rows-within.ts";
import { settledSequence } from "./settled-sequence.ts";

/** Rows looked at in one call, so that another webhook's traffic bounds nobody's wait. */
const WINDOW_ROWS = 2_000;
/** A transform may hold a request back this long after it was received, while others overtake it. */
const OVERTAKEN_MS = 60_000;

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
    webhookRequestFollow: (params) => followRequests(database, params),
    webhookRequestSequence: () => settledSequence(database, "requests"),
    async webhookRequestSequenceBefore({ environmentId, webhookId, receivedFrom }) {
      const settled = await settledSequence(database, "requests");
      const [row] = await database.query<{ first: number | null }>(
        `SELECT min(sequence) AS first FROM (
           SELECT sequence FROM webhook_requests WHERE environment_id = $1 AND webhook_id = $2 AND received_at >= $3
           ORDER BY received_at, sequence LIMIT 1000) AS oldest`,
        [environmentId, webhookId, receivedFrom - OVERTAKEN_MS],
      );
      return row?.first == null ? settled : Math.min(row.first - 1, settled);
    },
    webhookRequestExpireMany: (params) => expireRequests(database, params),
  };
}

/** Row by row, where the partition could not be dropped: see retention.ts. Nodes may sweep at the same time: what is gone is gone. */
async function expireRequests(database: Database, { receivedUntil, limit }: { receivedUntil: number; limit: number }): Promise<number> {
  let removed = 0;
  for (const table of await tablesUntil(database, "requests", receivedUntil)) {
    const rows = await database.query(
      `DELETE FROM ${table} WHERE sequence IN (
         SELECT sequence FROM (SELECT sequence, received_at FROM ${table} ORDER BY sequence LIMIT $2) AS oldest
         WHERE received_at <= $1)
       RETURNING 1`,
      [receivedUntil, limit - removed],
    );
    removed += rows.length;
  }
  return removed;
}

function listRequests(database: Database, params: WebhookRequestListParams): Promise<RequestPage> {
  const readSlice = async (after: EventCursor | undefined, rows: number, bytesMax: number) => {
    const where = new Conditions();
    where.add("environment_id = ?", params.environmentId);
    where.add("webhook_id = ?", params.webhookId);
    if (after) where.add("(received_at, sequence) < (?, ?)", after.receivedAt, after.sequence);
    if (params.from !== undefined) where.add("received_at >= ?", params.from);
    if (params.to !== undefined) where.add("received_at < ?", params.to);
    const order = "received_at DESC, sequence DESC";
    const newest = `(SELECT * FROM webhook_requests WHERE ${where.text} ORDER BY ${order} LIMIT ${rows})`;
    const found = await database.query<RequestRow & { rows_found: number }>(
      `${rowsWithin(newest, order, REQUEST_BYTES, bytesMax)} ORDER BY ${order}`,
      where.values,
    );
    return boundedSlice(found, rows);
  };
  return pageOfRequests(params, readSlice, readRequest);
}

async function followRequests(
  database: Database,
  { environmentId, webhookId, after, limit, bytesMax = PAGE_BYTES_MAX }: WebhookRequestFollowParams,
): Promise<{ requests: WebhookRequest[]; reached: number }> {
  const until = Math.min(after + WINDOW_ROWS, await settledSequence(database, "requests"));
  const oldest = `(
    SELECT * FROM webhook_requests WHERE sequence > $1 AND sequence <= $2 AND environment_id = $3 AND webhook_id = $4
    ORDER BY sequence LIMIT $5)`;
  const found = await database.query<RequestRow & { rows_found: number }>(
    `${rowsWithin(oldest, "sequence", REQUEST_BYTES, bytesMax)} ORDER BY sequence`,
    [after, until, environmentId, webhookId, limit],
  );
  const { rows, isEnd } = boundedSlice(found, limit);
  const last = rows.at(-1);
  return { requests: rows.map(readRequest), reached: !isEnd && last ? last.sequence : Math.max(after, until) };
}

function readRequest(row: RequestRow): WebhookRequest {
  const text = (value: string | null) => (value === null ? null : fromStoreText(value));
  return toRequest({ ...row, content_type: text(row.content_type), body: text(row.body), error: text(row.error) });
}

/** Reads recorded webhook requests, on the read thread. */

import type { DatabaseSync, SQLInputValue } from "node:sqlite";
import { setImmediate as nextTick } from "node:timers/promises";
import type { EnvironmentId, WebhookId, WebhookRequestId } from "@inlet/protocol";
import type {
  EventCursor,
  WebhookOutcome,
  WebhookOutcomesParams,
  WebhookRequest,
  WebhookRequestBody,
  WebhookRequestBodyParams,
  WebhookRequestCount,
  WebhookRequestCountParams,
  WebhookRequestListParams,
} from "../../contract/index.ts";
import { sliceWithin } from "../../shared/byte-bounds.ts";
import { REQUESTS_COUNTED_MAX } from "../contract.ts";
import { pageOfRequests, type RequestPage } from "../rows/request-pages.ts";
import { bytesOfRequest, type RequestRow, toRequest } from "../rows/request-rows.ts";

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

export function requestWithBody(db: DatabaseSync, params: WebhookRequestBodyParams): WebhookRequestBody | null {
  const { environmentId, webhookId, bodyKey, isAccepted, isReceived } = params;
  const row = db
    .prepare(`
      SELECT event_id AS eventId, delivered_to AS deliveredTo, outcome, transform_version AS transformVersion
      FROM webhook_requests INDEXED BY webhook_requests_by_body
      WHERE environment_id = ?1 AND webhook_id = ?2 AND body_key = ?3 AND (event_id IS NOT NULL) = ?4 AND (?5 = 0 OR reconciled = 0)
      ORDER BY sequence DESC LIMIT 1`)
    .get(environmentId, webhookId, bodyKey, Number(isAccepted), Number(isReceived));
  return (row as unknown as WebhookRequestBody | undefined) ?? null;
}

export function listOutcomes(db: DatabaseSync, { environmentId, webhookIds, limit }: WebhookOutcomesParams): WebhookOutcome[] {
  const select = db.prepare(`
    SELECT webhook_id AS webhookId, received_at AS receivedAt, outcome FROM webhook_requests INDEXED BY webhook_requests_by_time
    WHERE environment_id = ? AND webhook_id = ? ORDER BY received_at DESC, sequence DESC LIMIT ?`);
  return webhookIds.flatMap((id) => select.all(environmentId, id, limit) as unknown as WebhookOutcome[]);
}

/** The index holds all that is counted: no body is read. */
export function countRequests(db: DatabaseSync, params: WebhookRequestCountParams): WebhookRequestCount[] {
  const { environmentId, webhookId, from, to, intervalMs } = params;
  return db
    .prepare(`
      SELECT CAST((received_at - ?) / ? AS INTEGER) AS interval, outcome, count(*) AS count FROM (
        SELECT received_at, outcome FROM webhook_requests INDEXED BY webhook_requests_by_time
        WHERE environment_id = ? AND webhook_id = ? AND received_at >= ? AND received_at < ?
        ORDER BY received_at DESC, sequence DESC LIMIT ${REQUESTS_COUNTED_MAX})
      GROUP BY 1, 2`)
    .all(from, intervalMs, environmentId, webhookId, from, to) as unknown as WebhookRequestCount[];
}

export function listRequests(db: DatabaseSync, params: WebhookRequestListParams): Promise<RequestPage> {
  const readAndYield = async (after: EventCursor | undefined, rows: number, bytesMax: number) => {
    const slice = sliceWithin(readRows(db, params, after, rows), rows, bytesMax, bytesOfRequest);
    await nextTick();
    return slice;
  };
  return pageOfRequests(params, readAndYield, toRequest);
}

function readRows(db: DatabaseSync, params: WebhookRequestListParams, after: EventCursor | undefined, rows: number): Iterable<RequestRow> {
  const where = ["environment_id = ?", "webhook_id = ?"];
  const values: SQLInputValue[] = [params.environmentId, params.webhookId];
  const require = (condition: string, ...bound: SQLInputValue[]) => {
    where.push(condition);
    values.push(...bound);
  };
  if (after) require("(received_at, sequence) < (?, ?)", after.receivedAt, after.sequence);
  if (params.from !== undefined) require("received_at >= ?", params.from);
  if (params.to !== undefined) require("received_at < ?", params.to);
  if (params.isReceived) require("reconciled = 0");
  return db
    .prepare(`
      SELECT * FROM webhook_requests INDEXED BY webhook_requests_by_time
      WHERE ${where.join(" AND ")} ORDER BY received_at DESC, sequence DESC LIMIT ?`)
    .iterate(...values, rows) as unknown as Iterable<RequestRow>;
}

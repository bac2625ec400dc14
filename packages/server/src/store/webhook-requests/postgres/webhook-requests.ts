/** Recorded webhook requests in PostgreSQL. */

import type { EnvironmentId, EventId } from "@inlet/protocol";
import {
  type EventAppendResult,
  type EventBatch,
  type EventCursor,
  type NewWebhookRequest,
  REQUESTS_COUNTED_MAX,
  type WebhookOutcome,
  type WebhookRequest,
  type WebhookRequestBody,
  type WebhookRequestCount,
  type WebhookRequestFollowParams,
  type WebhookRequestListParams,
  type WebhookRequestStore,
} from "../../contract/index.ts";
import { FENCES, sequenceAfter, settledSequence } from "../../events/postgres/settled-sequence.ts";
import { Conditions } from "../../postgres/conditions.ts";
import type { Database, Read } from "../../postgres/database.ts";
import type { GroupCommit } from "../../postgres/group-commit.ts";
import { insertInto, jsonRows } from "../../postgres/json-rows.ts";
import type { PendingWrites } from "../../postgres/pending-writes.ts";
import { boundedSlice, REQUEST_BYTES, rowsWithin } from "../../postgres/rows-within.ts";
import { tablesUntil } from "../../postgres/schema/partitions.ts";
import { PAGE_BYTES_MAX } from "../../shared/byte-bounds.ts";
import { OVERTAKEN_ROWS, overtakenSince, reachedBy, sequenceBeforeFirst, WINDOW_ROWS } from "../../shared/following.ts";
import { pageOfRequests, type RequestPage } from "../rows/request-pages.ts";
import { type RequestRow, toRequest, writeQuery } from "../rows/request-rows.ts";

const INSERT = `
  ${insertInto("webhook_requests", {
    environment_id: "integer",
    webhook_id: "text",
    request_id: "text",
    received_at: "bigint",
    ip: "text",
    method: "text",
    headers: "text",
    query: "text",
    content_type: "text",
    body: "text",
    body_base64: "text",
    status: "integer",
    outcome: "text",
    error: "text",
    event_id: "text",
    delivered_to: "integer",
    transform_version: "integer",
    duration_ms: "double precision",
    logs: "text",
    verified_at: "bigint",
    reconciled: "smallint",
    body_key: "text",
  })}
  ON CONFLICT (environment_id, webhook_id, request_id) DO NOTHING`;

const WITH_BODY = `
  SELECT event_id AS "eventId", delivered_to AS "deliveredTo", outcome, transform_version AS "transformVersion" FROM webhook_requests
  WHERE environment_id = $1 AND webhook_id = $2 AND body_key = $3 AND (event_id IS NOT NULL) = $4::boolean
    AND (NOT $5::boolean OR reconciled = 0)
  ORDER BY sequence DESC LIMIT 1`;

const OUTCOMES = `
  SELECT webhook_id AS "webhookId", received_at AS "receivedAt", outcome FROM unnest($2::text[]) WITH ORDINALITY AS wanted(id, position),
    LATERAL (SELECT webhook_id, received_at, sequence, outcome FROM webhook_requests
      WHERE environment_id = $1 AND webhook_id = wanted.id ORDER BY received_at DESC, sequence DESC LIMIT $3) AS newest
  ORDER BY position, received_at DESC, sequence DESC`;

/** The index holds all that is counted: no body is read. */
const COUNTS = `
  SELECT (received_at - $3) / $5 AS interval, outcome, count(*)::integer AS count FROM (
    SELECT received_at, outcome FROM webhook_requests
    WHERE environment_id = $1 AND webhook_id = $2 AND received_at >= $3 AND received_at < $4
    ORDER BY received_at DESC, sequence DESC LIMIT ${REQUESTS_COUNTED_MAX}) AS newest
  GROUP BY 1, 2`;

export interface Recorded {
  request: NewWebhookRequest;
  eventId: EventId | null;
}

/** A request that is recorded again, because the response to its commit was lost, already exists. */
export function recordRequests(writes: PendingWrites, recorded: readonly Recorded[]): void {
  if (recorded.length === 0) return;
  writes.send("SELECT hold_sequence($1, $2)", ...FENCES.requests);
  writes.send(INSERT, jsonRows(recorded.map(requestColumns)));
  writes.notices.hasEvents = true;
}

function requestColumns({ request, eventId }: Recorded) {
  const { environmentId, webhookId, id, receivedAt, ip, method, headers, query, contentType, body, bodyBase64 } = request;
  const { status, outcome, error, deliveredTo, transformVersion, durationMs, logs, verifiedAt, isReconciled, bodyKey } = request;
  return {
    environment_id: environmentId,
    webhook_id: webhookId,
    request_id: id,
    received_at: receivedAt,
    ip,
    method,
    headers,
    query: writeQuery(query),
    content_type: contentType,
    body,
    body_base64: bodyBase64,
    status,
    outcome,
    error,
    event_id: eventId,
    delivered_to: deliveredTo,
    transform_version: transformVersion,
    duration_ms: durationMs,
    logs,
    verified_at: verifiedAt,
    reconciled: Number(isReconciled),
    body_key: bodyKey,
  };
}

export function webhookRequestStore(database: Database, writer: GroupCommit<EventBatch, EventAppendResult>): WebhookRequestStore {
  return {
    // A batch of no events.
    async webhookRequestInsert(request) {
      const { environmentId, receivedAt, webhookId } = request;
      const batch = {
        environmentId,
        receivedAt,
        source: { kind: "webhook", id: webhookId },
        duplicateSince: 0,
        idsFromSender: false,
      } as const;
      await writer.submit({ ...batch, events: [], webhookRequest: request }, { environmentId, rows: 1, keys: [] });
    },
    async webhookRequestGet({ environmentId, webhookId, id }) {
      const [row] = await database.read<RequestRow>(
        "SELECT * FROM webhook_requests WHERE environment_id = $1 AND webhook_id = $2 AND request_id = $3",
        [environmentId, webhookId, id],
      );
      return row ? toRequest(row) : null;
    },
    async webhookRequestWithBody({ environmentId, webhookId, bodyKey, isAccepted, isReceived }) {
      const values = [environmentId, webhookId, bodyKey, isAccepted, isReceived];
      const [row] = await database.query<WebhookRequestBody>(WITH_BODY, values);
      return row ?? null;
    },
    webhookRequestList: (params) => listRequests(database, params),
    webhookRequestOutcomes: ({ environmentId, webhookIds, limit }) =>
      database.read<WebhookOutcome>(OUTCOMES, [environmentId, webhookIds, limit]),
    webhookRequestCounts: ({ environmentId, webhookId, from, to, intervalMs }) =>
      database.read<WebhookRequestCount>(COUNTS, [environmentId, webhookId, from, to, intervalMs]),
    webhookRequestFollow: (params) => followRequests(database, params),
    webhookRequestSequence: () => settledSequence(database, "requests"),
    async webhookRequestSequenceBefore({ environmentId, webhookId, receivedFrom }) {
      const settled = await settledSequence(database, "requests");
      const [row] = await database.read<{ first: number | null }>(
        `SELECT min(sequence) AS first FROM (
           SELECT sequence FROM webhook_requests WHERE environment_id = $1 AND webhook_id = $2 AND received_at >= $3
           ORDER BY received_at, sequence LIMIT ${OVERTAKEN_ROWS}) AS oldest`,
        [environmentId, webhookId, overtakenSince(receivedFrom)],
      );
      return sequenceBeforeFirst(row?.first, settled);
    },
    webhookRequestExpireMany: ({ environmentId, ...params }) =>
      environmentId === undefined ? expireRequests(database, params) : expireRequestsIn(database, environmentId, params),
  };
}

/** The webhooks of an environment that have requests, along the index: the webhooks themselves may be in another database. */
const WEBHOOKS_ASKED = `
  WITH RECURSIVE asked AS (
    (SELECT webhook_id FROM webhook_requests WHERE environment_id = $2 ORDER BY webhook_id LIMIT 1)
    UNION ALL
    SELECT (SELECT r.webhook_id FROM webhook_requests AS r WHERE r.environment_id = $2 AND r.webhook_id > asked.webhook_id
            ORDER BY r.webhook_id LIMIT 1)
    FROM asked WHERE asked.webhook_id IS NOT NULL)`;

/** Of one environment: its partitions contain rows of others, so rows are deleted individually. */
async function expireRequestsIn(
  database: Database,
  environmentId: EnvironmentId,
  { receivedUntil, limit }: { receivedUntil: number; limit: number },
): Promise<number> {
  const removed = await database.query(
    `${WEBHOOKS_ASKED}
     DELETE FROM webhook_requests AS gone USING (
       SELECT r.environment_id, r.webhook_id, r.request_id FROM asked JOIN webhook_requests AS r
         ON r.environment_id = $2 AND r.webhook_id = asked.webhook_id AND r.received_at <= $1
       LIMIT $3) AS old
     WHERE gone.environment_id = old.environment_id AND gone.webhook_id = old.webhook_id AND gone.request_id = old.request_id RETURNING 1`,
    [receivedUntil, environmentId, limit],
    "maintenance",
  );
  return removed.length;
}

/** Row by row, where the partition could not be dropped: see retention.ts. Several nodes may do this at the same time. */
async function expireRequests(database: Database, { receivedUntil, limit }: { receivedUntil: number; limit: number }): Promise<number> {
  let removed = 0;
  for (const table of await tablesUntil(database, "requests", receivedUntil)) {
    const rows = await database.query(
      `DELETE FROM ${table} WHERE sequence IN (
         SELECT sequence FROM (SELECT sequence, received_at FROM ${table} ORDER BY sequence LIMIT $2) AS oldest
         WHERE received_at <= $1)
       RETURNING 1`,
      [receivedUntil, limit - removed],
      "maintenance",
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
    if (params.isReceived) where.add("reconciled = 0");
    const order = "received_at DESC, sequence DESC";
    const newest = `(SELECT * FROM webhook_requests WHERE ${where.text} ORDER BY ${order} LIMIT ${rows})`;
    const found = await database.read<RequestRow & { rows_found: number }>(
      `${rowsWithin(newest, order, REQUEST_BYTES, bytesMax)} ORDER BY ${order}`,
      where.values,
    );
    return boundedSlice(found, rows);
  };
  return pageOfRequests(params, readSlice, toRequest);
}

async function followRequests(
  database: Database,
  { environmentId, webhookId, after, limit, bytesMax = PAGE_BYTES_MAX }: WebhookRequestFollowParams,
): Promise<{ requests: WebhookRequest[]; reached: number }> {
  const settled = await settledSequence(database, "requests");
  const read: Read = (text, values) => database.read(text, values);
  const until = await sequenceAfter(read, { after, settled, count: WINDOW_ROWS, of: "requests" });
  const oldest = `(
    SELECT * FROM webhook_requests WHERE sequence > $1 AND sequence <= $2 AND environment_id = $3 AND webhook_id = $4
    ORDER BY sequence LIMIT $5)`;
  const found = await database.read<RequestRow & { rows_found: number }>(
    `${rowsWithin(oldest, "sequence", REQUEST_BYTES, bytesMax)} ORDER BY sequence`,
    [after, until, environmentId, webhookId, limit],
  );
  const slice = boundedSlice(found, limit);
  return { requests: slice.rows.map(toRequest), reached: reachedBy(slice, after, until) };
}

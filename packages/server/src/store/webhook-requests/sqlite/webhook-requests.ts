/** Recorded webhook requests in SQLite: written here, read on the read thread (read-webhook-requests.ts). */

import type { DatabaseSync } from "node:sqlite";
import type { EventId } from "@inlet/protocol";
import type { NewWebhookRequest, WebhookRequestStore } from "../../contract/index.ts";
import type { GroupCommit } from "../../sqlite/group-commit.ts";
import type { Reader } from "../../sqlite/reader.ts";
import { writeQuery } from "../rows/request-rows.ts";

export type RecordRequest = (request: NewWebhookRequest, eventId: EventId | null) => void;

export function prepareRecordRequest(db: DatabaseSync): RecordRequest {
  const insert = db.prepare(`
    INSERT INTO webhook_requests (
      environment_id, webhook_id, request_id, received_at, ip, method, headers, query, content_type, body, body_base64,
      status, outcome, error, event_id, delivered_to, transform_version, duration_ms, logs, verified_at, reconciled, body_key
    ) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`);
  return (request, eventId) => {
    const { environmentId, webhookId, id, receivedAt, ip, method, headers, query, contentType, body, bodyBase64 } = request;
    const { status, outcome, error, deliveredTo, transformVersion, durationMs, logs, verifiedAt, isReconciled, bodyKey } = request;
    // biome-ignore format: as the columns are above
    insert.run(
      environmentId, webhookId, id, receivedAt, ip, method, headers, writeQuery(query), contentType, body, bodyBase64,
      status, outcome, error, eventId, deliveredTo, transformVersion, durationMs, logs, verifiedAt, Number(isReconciled), bodyKey,
    );
  };
}

export function webhookRequestStore(db: DatabaseSync, writer: GroupCommit, reader: Reader): WebhookRequestStore {
  const record = prepareRecordRequest(db);
  // Records are appended in order of receipt, so the oldest come first and no others need to be examined. The newest is
  // kept, because the next one is numbered after it.
  const expire = db.prepare(`
    DELETE FROM webhook_requests WHERE sequence IN (
      SELECT sequence FROM (SELECT sequence, received_at FROM webhook_requests ORDER BY sequence LIMIT ?) WHERE received_at <= ?)
      AND sequence < (SELECT max(sequence) FROM webhook_requests)`);
  const expireIn = db.prepare(`
    DELETE FROM webhook_requests WHERE sequence IN (
      SELECT r.sequence FROM webhooks AS w CROSS JOIN webhook_requests AS r
        ON r.environment_id = w.environment_id AND r.webhook_id = w.webhook_id AND r.received_at <= ?
      WHERE w.environment_id = ? LIMIT ?)
      AND sequence < (SELECT max(sequence) FROM webhook_requests)`);
  return {
    webhookRequestInsert: (request) => writer.submit(() => record(request, null)),
    webhookRequestGet: (params) => reader.read("webhookRequestGet", params),
    webhookRequestWithBody: (params) => reader.read("webhookRequestWithBody", params),
    webhookRequestList: (params) => reader.read("webhookRequestList", params),
    webhookRequestOutcomes: (params) => reader.read("webhookRequestOutcomes", params),
    webhookRequestCounts: (params) => reader.read("webhookRequestCounts", params),
    webhookRequestFollow: (params) => reader.read("webhookRequestFollow", params),
    webhookRequestSequence: (params) => reader.read("webhookRequestSequence", params),
    webhookRequestSequenceBefore: (params) => reader.read("webhookRequestSequenceBefore", params),
    webhookRequestExpireMany: ({ environmentId, receivedUntil, limit }) =>
      writer.submit(() => {
        const isEverywhere = environmentId === undefined;
        const { changes } = isEverywhere ? expire.run(limit, receivedUntil) : expireIn.run(receivedUntil, environmentId, limit);
        return Number(changes);
      }, limit),
  };
}

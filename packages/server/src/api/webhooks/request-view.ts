/** A recorded request, as REST shows it. */

import { canonicalHeaders, parseQuery } from "@inlet/protocol";
import type { WebhookRequest } from "../../store/contract/index.ts";
import { INSTANT, INTEGER, listOf, NUMBER, shape, TEXT, TEXT_OR_NULL } from "../route-facts.ts";

export const REQUEST = shape(
  {
    id: TEXT,
    receivedAt: INSTANT,
    ip: TEXT,
    method: TEXT,
    headers: {
      type: "object",
      additionalProperties: { type: "string" },
      description: "As the transform saw them: names in canonical form, repeated headers joined.",
    },
    rawHeaders: { ...listOf(TEXT), description: "Alternating names and values, as received." },
    query: { type: "object", additionalProperties: { type: "array", items: { type: "string" } } },
    rawQuery: { type: "string", description: "The query string, as received." },
    contentType: TEXT_OR_NULL,
    body: { ...TEXT_OR_NULL, description: "Null if it was too large to store." },
    bodyBase64: {
      type: "string",
      description: "The bytes as received, if `body` does not represent them exactly: not UTF-8, or compressed.",
    },
    status: INTEGER,
    outcome: { type: "string", description: "`accepted`, `handshake`, or the code of an error." },
    verified: {
      type: ["boolean", "null"],
      description: "Whether its signature was valid; null if the webhook does not verify requests.",
    },
    reconciled: { type: "boolean", description: "True: it was not received. Reconciliation found it in the provider's list." },
    error: TEXT,
    eventId: TEXT,
    environment: { type: "string", description: "Where the event went." },
    transformVersion: INTEGER,
    durationMs: NUMBER,
    logs: listOf(TEXT),
  },
  { optional: ["bodyBase64", "reconciled", "error", "eventId"], title: "WebhookRequest" },
);

export function requestView(record: WebhookRequest, environment: string) {
  const rawHeaders = JSON.parse(record.headers) as string[];
  return {
    id: record.id,
    receivedAt: new Date(record.receivedAt).toISOString(),
    ip: record.ip,
    method: record.method,
    headers: canonicalHeaders(rawHeaders),
    rawHeaders,
    query: parseQuery(record.query),
    rawQuery: record.query,
    contentType: record.contentType,
    body: record.body,
    ...(record.bodyBase64 !== null && { bodyBase64: record.bodyBase64 }),
    status: record.status,
    outcome: record.outcome,
    verified: record.verifiedAt === null ? null : record.outcome !== "signature_invalid",
    ...(record.isReconciled && { reconciled: true }),
    ...(record.error !== null && { error: record.error }),
    ...(record.eventId !== null && { eventId: record.eventId }),
    environment,
    transformVersion: record.transformVersion,
    durationMs: record.durationMs,
    logs: JSON.parse(record.logs),
  };
}

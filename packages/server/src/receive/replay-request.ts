/** Sends a recorded webhook request through the service again, as if it had just arrived. */

import { EVENT_ID_SEED_HEADER } from "@inlet/protocol";
import type { WebhookRequest } from "../store/contract/index.ts";
import { targetOf } from "./connections/target.ts";
import { type InboundRequest, type ReceiveOutcome, UNCOUNTED } from "./inbound-request.ts";

/** Headers that describe the transfer of the body. */
const OF_THE_JOURNEY: ReadonlySet<string> = new Set(["content-length", "transfer-encoding"]);
/** A forwarded copy determines its event id; a replay creates a new event. */
const OF_THE_COPY = EVENT_ID_SEED_HEADER;

export function replayRequest(
  receive: (request: InboundRequest) => Promise<ReceiveOutcome>,
  record: WebhookRequest,
  token: string,
  /** Determines the id of the event: repeating the replay creates the same event. */
  seed?: string,
): Promise<ReceiveOutcome> {
  const rawHeaders = withoutHeaders(JSON.parse(record.headers) as string[]);
  return receive({
    method: record.method,
    target: targetOf(token, record.query),
    keyText: token,
    query: record.query,
    headers: { ...firstValues(rawHeaders), ...(seed !== undefined && { [EVENT_ID_SEED_HEADER]: seed }) },
    rawHeaders,
    ip: record.ip,
    readBody: () => Promise.resolve(bodyOf(record)),
    // Replays are started by hand, or by a job that does a few at a time.
    memory: UNCOUNTED,
    isReconciled: record.isReconciled,
    isTakenAgain: seed !== undefined,
    ...(record.isReconciled && record.eventId === null && record.bodyKey !== null && { itemKey: record.bodyKey }),
    receipt: { at: record.verifiedAt ?? record.receivedAt, wasVerified: wasVerified(record) },
  });
}

/** The result of verification at receipt. */
export function wasVerified({ verifiedAt, outcome }: Pick<WebhookRequest, "verifiedAt" | "outcome">): boolean {
  return verifiedAt !== null && outcome !== "signature_invalid";
}

/** The bytes of a recorded body, as received. */
export function bodyOf({ body, bodyBase64 }: Pick<WebhookRequest, "body" | "bodyBase64">): Buffer {
  return bodyBase64 === null ? Buffer.from(body ?? "") : Buffer.from(bodyBase64, "base64");
}

function withoutHeaders(rawHeaders: readonly string[]): string[] {
  const isLeftOut = (name = "") => OF_THE_JOURNEY.has(name.toLowerCase()) || name.toLowerCase() === OF_THE_COPY;
  return rawHeaders.filter((_, at) => !isLeftOut(rawHeaders[at - (at % 2)]));
}

/** Headers that the stages look up by name appear once; the transform sees the whole list of the others. */
function firstValues(rawHeaders: readonly string[]): Record<string, string> {
  const headers: Record<string, string> = Object.create(null);
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) headers[(rawHeaders[at] ?? "").toLowerCase()] ??= rawHeaders[at + 1] ?? "";
  return headers;
}

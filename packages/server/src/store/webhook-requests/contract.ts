/** The record of every request to a webhook, accepted or refused. */

import type { EnvironmentId, EventId, WebhookId, WebhookRequestId } from "@inlet/protocol";
import type { EventCursor } from "../contract/event-cursor.ts";

export interface NewWebhookRequest {
  id: WebhookRequestId;
  webhookId: WebhookId;
  /** The webhook's own environment, or the shared scope. */
  environmentId: EnvironmentId;
  receivedAt: number;
  ip: string;
  method: string;
  /** JSON text: alternating names and values, as received, including repeated ones. */
  headers: string;
  /** The text after the question mark. */
  query: string;
  contentType: string | null;
  /** Its text after content decoding. Null if it was too large to store. */
  body: string | null;
  /** The bytes as received, if `body` does not represent them exactly. */
  bodyBase64: string | null;
  status: number;
  /** `accepted`, or the error code. */
  outcome: string;
  error: string | null;
  /** The environment of the event; the webhook's own environment if there is no event. */
  deliveredTo: EnvironmentId;
  transformVersion: number;
  durationMs: number;
  /** JSON text: the transform's console output. */
  logs: string;
  /** The time of receipt against which the age of its signature was checked; null if nothing was verified. */
  verifiedAt: number | null;
  /** It was not received, but found in what the provider lists. */
  isReconciled: boolean;
  /**
   * A hash of the body, if its event has no dedup id or the transform refused it: a listed item may be known by its body only. Of a listed
   * item that was refused, the key by which it is known. Null otherwise.
   */
  bodyKey: string | null;
}

export interface WebhookRequest extends NewWebhookRequest {
  sequence: number;
  eventId: EventId | null;
}

export interface WebhookRequestListParams {
  environmentId: EnvironmentId;
  webhookId: WebhookId;
  limit: number;
  /** The page ends once it holds this many bytes; 4 MiB by default. It always holds at least one row. */
  bytesMax?: number;
  after?: EventCursor;
  from?: number;
  to?: number;
  outcome?: string;
  /** True: only those that were received, not found in a list. */
  isReceived?: boolean;
  /** In the body, whatever its case. */
  text?: string;
  /** No body in which this is found is found by its text: a search finds out nothing that is hidden from the reader. */
  hidden?: RegExp;
}

export interface WebhookRequestBodyParams {
  environmentId: EnvironmentId;
  webhookId: WebhookId;
  bodyKey: string;
  isAccepted: boolean;
  /** Only one that was received, not found in a list. */
  isReceived: boolean;
}

export type WebhookRequestBody = Pick<WebhookRequest, "eventId" | "deliveredTo" | "outcome" | "transformVersion">;

export interface WebhookOutcomesParams {
  environmentId: EnvironmentId;
  webhookIds: readonly WebhookId[];
  limit: number;
}

export type WebhookOutcome = Pick<WebhookRequest, "webhookId" | "receivedAt" | "outcome">;

/** The most requests that are counted at once, the newest of the range. */
export const REQUESTS_COUNTED_MAX = 100_000;

export interface WebhookRequestCountParams {
  environmentId: EnvironmentId;
  webhookId: WebhookId;
  from: number;
  to: number;
  intervalMs: number;
}

export interface WebhookRequestCount {
  /** Intervals are numbered from 0, which begins at `from`. */
  interval: number;
  outcome: string;
  count: number;
}

export interface WebhookRequestFollowParams {
  environmentId: EnvironmentId;
  webhookId: WebhookId;
  after: number;
  limit: number;
  /** The page ends once it holds this many bytes; 4 MiB by default. It always holds at least one row. */
  bytesMax?: number;
}

export interface WebhookRequestStore {
  /** Records a refused request. An accepted one is recorded by eventAppend, in the transaction of its event. */
  webhookRequestInsert(request: NewWebhookRequest): Promise<void>;
  webhookRequestGet(params: { environmentId: EnvironmentId; webhookId: WebhookId; id: WebhookRequestId }): Promise<WebhookRequest | null>;
  /** Newest first. */
  webhookRequestList(params: WebhookRequestListParams): Promise<{ requests: WebhookRequest[]; next: EventCursor | null }>;
  /** The newest request with this body that made an event, or that was refused. */
  webhookRequestWithBody(params: WebhookRequestBodyParams): Promise<WebhookRequestBody | null>;
  /** How the last `limit` requests of each of these webhooks ended, newest first. */
  webhookRequestOutcomes(params: WebhookOutcomesParams): Promise<WebhookOutcome[]>;
  /** How many requests of each outcome were received in each interval. In no order. */
  webhookRequestCounts(params: WebhookRequestCountParams): Promise<WebhookRequestCount[]>;
  /** Requests committed after a sequence number, oldest first. `reached` is where to continue, even if nothing matched. */
  webhookRequestFollow(params: WebhookRequestFollowParams): Promise<{ requests: WebhookRequest[]; reached: number }>;
  /** The highest sequence number in use where the environment is, 0 without records. */
  webhookRequestSequence(params: { environmentId: EnvironmentId }): Promise<number>;
  /** Like eventSequenceBefore. */
  webhookRequestSequenceBefore(params: { environmentId: EnvironmentId; webhookId: WebhookId; receivedFrom: number }): Promise<number>;
  /** Removes at most `limit` of the oldest records, received at or before `receivedUntil`. Returns how many. */
  webhookRequestExpireMany(params: { environmentId?: EnvironmentId; receivedUntil: number; limit: number }): Promise<number>;
}

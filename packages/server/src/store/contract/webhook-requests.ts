/** The record of every request a webhook was sent, accepted or refused. */

import type { EnvironmentId, EventId, WebhookId, WebhookRequestId } from "@inlet/protocol";
import type { EventCursor } from "./event-cursor.ts";

export interface NewWebhookRequest {
  id: WebhookRequestId;
  webhookId: WebhookId;
  /** The webhook's own environment, or the shared scope. */
  environmentId: EnvironmentId;
  receivedAt: number;
  ip: string;
  method: string;
  /** JSON text: names and values in turn, as they came, repetitions included. */
  headers: string;
  /** The text after the question mark. */
  query: string;
  contentType: string | null;
  /** Its text, after decoding of its content encoding. Null when it was too large to keep. */
  body: string | null;
  /** The bytes as they came, when `body` is not exactly their text. */
  bodyBase64: string | null;
  status: number;
  /** `accepted`, or the code of the error. */
  outcome: string;
  error: string | null;
  /** Where the event went; the webhook's own environment when there is none. */
  deliveredTo: EnvironmentId;
  transformVersion: number;
  durationMs: number;
  /** JSON text: what the transform wrote to the console. */
  logs: string;
  /** The time of receipt that the age of its signature was judged by; null when nothing was verified. */
  verifiedAt: number | null;
}

export interface WebhookRequest extends NewWebhookRequest {
  sequence: number;
  eventId: EventId | null;
}

export interface WebhookRequestListParams {
  environmentId: EnvironmentId;
  webhookId: WebhookId;
  limit: number;
  /** Ends the page once it holds so much; 4 MiB unless given. One is always read, however large. */
  bytesMax?: number;
  after?: EventCursor;
  from?: number;
  to?: number;
  outcome?: string;
}

export interface WebhookRequestFollowParams {
  environmentId: EnvironmentId;
  webhookId: WebhookId;
  after: number;
  limit: number;
  /** Ends the page once it holds so much; 4 MiB unless given. One is always read, however large. */
  bytesMax?: number;
}

export interface WebhookRequestStore {
  /** A refused request. One that was accepted is recorded by eventAppend, in the transaction of its event. */
  webhookRequestInsert(request: NewWebhookRequest): Promise<void>;
  webhookRequestGet(params: { environmentId: EnvironmentId; webhookId: WebhookId; id: WebhookRequestId }): Promise<WebhookRequest | null>;
  /** Newest first. */
  webhookRequestList(params: WebhookRequestListParams): Promise<{ requests: WebhookRequest[]; next: EventCursor | null }>;
  /** Requests committed after a sequence number, oldest first. `reached` is where to go on, also when nothing matched. */
  webhookRequestFollow(params: WebhookRequestFollowParams): Promise<{ requests: WebhookRequest[]; reached: number }>;
  /** The highest sequence number in use, 0 without records. */
  webhookRequestSequence(): Promise<number>;
  /** As eventSequenceBefore. */
  webhookRequestSequenceBefore(params: { environmentId: EnvironmentId; webhookId: WebhookId; receivedFrom: number }): Promise<number>;
  /** Removes at most `limit` of the oldest records, received at or before `receivedUntil`; says how many. */
  webhookRequestExpireMany(params: { environmentId?: EnvironmentId; receivedUntil: number; limit: number }): Promise<number>;
}

/** Events: appended in batches that are kept whole or not at all, read newest first, followed in commit order. */

import type { EnvironmentId, EventId } from "@inlet/protocol";
import type { EventCursor } from "./event-cursor.ts";
import type { NewRun, NewStart } from "./new-runs.ts";
import type { ClaimedEntry, Lease } from "./queue.ts";
import type { NewWebhookRequest } from "./webhook-requests.ts";

export const SOURCE_KINDS = ["key", "webhook", "function", "internal"] as const;
export type SourceKind = (typeof SOURCE_KINDS)[number];

/** Where an event came in. */
export interface EventSource {
  kind: SourceKind;
  id: string;
}

export interface NewEvent {
  id: EventId;
  name: string;
  ts: number;
  /** The id the sender gave, which guards against duplicates. */
  dedupId: string | null;
  /** JSON text of an object, as it was sent. */
  data: string;
  /** JSON text of an object with every other field the sender gave, or null when there was none. */
  extras: string | null;
  /** How it breaks the schema declared for its name, as JSON text of a list. Absent: it does not, or it is not marked. */
  schemaErrors?: string;
  /** The sender's `traceparent`, carried to every call of its runs. Absent: there is none. */
  trace?: string;
  /** What it starts, unless it is a duplicate: written in the same transaction. */
  runs?: readonly NewRun[];
  starts?: readonly NewStart[];
}

export interface EventBatch {
  environmentId: EnvironmentId;
  receivedAt: number;
  source: EventSource;
  /** An event whose dedup id was first seen after this instant is a duplicate. */
  duplicateSince: number;
  /** The sender chose the Event IDs: one that is present already is the same event, sent again. */
  idsFromSender: boolean;
  events: readonly NewEvent[];
  /** The webhook request the one event came from, recorded in the same transaction. */
  webhookRequest?: NewWebhookRequest;
  /** Who takes up what the events start. Absent: it waits in the queue. */
  lease?: Lease;
}

export interface EventAppendResult {
  /** One per event, in order; for a duplicate, the id of the event that came first. */
  ids: EventId[];
  duplicates: number;
  /** Work that is now held by the one named in the lease. */
  leased: ClaimedEntry[];
}

export interface StoredEvent extends Omit<NewEvent, "runs" | "starts"> {
  /** Grows in commit order: what was read up to a sequence number is complete up to it. */
  sequence: number;
  environmentId: EnvironmentId;
  receivedAt: number;
  source: EventSource;
  /** How many later events were suppressed as duplicates of this one. */
  duplicates: number;
  /** It started a function, or resumed a run. */
  isMatched: boolean;
}

export interface EventListParams {
  environmentId: EnvironmentId;
  limit: number;
  /** Ends the page once it holds so much; 4 MiB unless given. One is always read, however large. */
  bytesMax?: number;
  /** Continue after this cursor. */
  after?: EventCursor;
  /** Received at or after. */
  from?: number;
  /** Received before. */
  to?: number;
  /** An exact name, or one that ends in `*`. */
  name?: string;
  dedupId?: string;
  /** A kind of source, or the id of one. */
  source?: string;
  /** A piece of the name or payload, in any case. */
  text?: string;
  /** Whether it started a function, or resumed a run. */
  matched?: boolean;
  /** An expression over the payload that holds for it. One that does not compile throws: check it before. */
  where?: string;
  /** False leaves out events that the service itself made. */
  internal?: boolean;
}

export interface EventPage {
  events: StoredEvent[];
  /**
   * Where the next page begins, or null at the end. A page of large events, and a search over much data, may stop early with few
   * events, or none, and a cursor to continue from: every call is bounded.
   */
  next: EventCursor | null;
}

export interface EventStore {
  /** Duplicate check and events in one durable transaction; batches that wait together share it. */
  eventAppend(batch: EventBatch): Promise<EventAppendResult>;
  eventGet(params: { environmentId: EnvironmentId; id: EventId }): Promise<StoredEvent | null>;
  eventList(params: EventListParams): Promise<EventPage>;
  /** Events committed after a sequence number, oldest first. `reached` is where to go on, also when nothing matched. */
  eventFollow(params: EventFollowParams): Promise<{ events: StoredEvent[]; reached: number }>;
  /** The highest sequence number in use, 0 in an empty store. */
  eventSequence(): Promise<number>;
  /**
   * A sequence number after which everything stands that the environment received at or after an instant. Some that was received
   * a little earlier may stand there too: events are received in one order and committed in another.
   */
  eventSequenceBefore(params: { environmentId: EnvironmentId; receivedFrom: number }): Promise<number>;
  /** Calls `listener` soon after events were committed, by any node. Returns how to stop it. */
  eventWatch(listener: () => void): () => void;
}

export interface EventFollowParams {
  environmentId: EnvironmentId;
  after: number;
  limit: number;
  /** Ends the page once it holds so much; 4 MiB unless given. One is always read, however large. */
  bytesMax?: number;
}

/** How an engine reads expressions over payloads: a module that exports `compileWhere`, because the embedded store reads on a thread of its own. */
export type CompileWhere = (text: string) => (event: StoredEvent) => boolean;

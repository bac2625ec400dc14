/** Events: appended in batches that are stored whole or not at all, read newest first, followed in commit order. */

import type { EnvironmentId, EventId, RunId } from "@inlet/protocol";
import type { EventCursor } from "../contract/event-cursor.ts";
import type { PendingMirror } from "../mirrors/contract/mirrors.ts";
import type { ClaimedEntry, Lease } from "../queue/contract.ts";
import type { NewRun, NewStart } from "../runs/contract/new-runs.ts";
import type { NewWebhookRequest } from "../webhook-requests/contract.ts";

export const SOURCE_KINDS = ["key", "webhook", "function", "internal"] as const;
export type SourceKind = (typeof SOURCE_KINDS)[number];

/** The key, webhook or function that an event came from. */
export interface EventSource {
  kind: SourceKind;
  id: string;
}

export interface NewEvent {
  id: EventId;
  name: string;
  ts: number;
  /** The id that the sender chose, or the service for an event of its own. Ids of these two are never compared with each other. */
  dedupId: string | null;
  /** JSON text of an object, as sent. */
  data: string;
  /** JSON text of an object with all other fields that the sender set; null if there are none. */
  extras: string | null;
  /** How it violates the schema declared for its name, as JSON text of a list. Absent: it does not, or it is not marked. */
  schemaErrors?: string;
  /** The sender's `traceparent`, sent with every call of its runs. Absent: there is none. */
  trace?: string;
  /** The run that sent it, or whose step or end caused it. Absent: there is none. */
  sourceRun?: RunId;
  /** What it starts, unless it is a duplicate. Written in the same transaction. */
  runs?: readonly NewRun[];
  starts?: readonly NewStart[];
}

export interface EventBatch {
  environmentId: EnvironmentId;
  receivedAt: number;
  source: EventSource;
  /** An event whose dedup id was first seen after this time is a duplicate. */
  duplicateSince: number;
  /** The sender chose the Event IDs: an ID that already exists is the same event, sent again. */
  idsFromSender: boolean;
  events: readonly NewEvent[];
  /** The size of the body they came in. Absent: they did not come in one. */
  bodyBytes?: number;
  /** The webhook request the one event came from, recorded in the same transaction. */
  webhookRequest?: NewWebhookRequest;
  /** The environments to copy the one event to, unless it is a duplicate; recorded in the same transaction. */
  mirror?: Pick<PendingMirror, "webhookId" | "targets">;
  /** The node that leases the work the events start. Absent: the work waits in the queue. */
  lease?: Lease;
}

export interface EventAppendResult {
  /** One per event, in order; for a duplicate, the id of the first event. */
  ids: EventId[];
  duplicates: number;
  /** Work that is now leased to the holder named in the lease. */
  leased: ClaimedEntry[];
}

export interface StoredEvent extends Omit<NewEvent, "runs" | "starts"> {
  /** Grows in commit order: after reading up to a sequence number, no event with a lower one can appear. */
  sequence: number;
  environmentId: EnvironmentId;
  receivedAt: number;
  source: EventSource;
  /** How many later events were dropped as duplicates of this one. */
  duplicates: number;
  /** It started a function, or resumed a run. */
  isMatched: boolean;
}

export interface EventListParams {
  environmentId: EnvironmentId;
  limit: number;
  /** The page ends once it holds this many bytes; 4 MiB by default. It always holds at least one row. */
  bytesMax?: number;
  /** Continue after this cursor. */
  after?: EventCursor;
  /** Received at or after this time. */
  from?: number;
  /** Received before this time. */
  to?: number;
  /** An exact name, or one that ends in `*`. */
  name?: string;
  dedupId?: string;
  /** A kind of source, or the id of one. */
  source?: string;
  /** Text in the name or payload; ignores case. */
  text?: string;
  /** Whether it started a function or resumed a run. */
  matched?: boolean;
  /** An expression over the payload that must be true. Throws if it does not compile: check it first. */
  where?: string;
  /** False excludes events that the service itself created. */
  internal?: boolean;
  /** Events in which this is found are left out, as if they did not match: a search finds out nothing that is hidden from the reader. */
  hidden?: RegExp;
}

export interface EventUnmatchedParams {
  environmentId: EnvironmentId;
  from: number;
  limit: number;
}

export interface EventPage {
  events: StoredEvent[];
  /**
   * Where the next page begins, or null at the end. A page of large events, and a search over much data, may stop early with few or no
   * events and a cursor to continue from: every call is bounded.
   */
  next: EventCursor | null;
}

export interface EventStore {
  /** Checks for duplicates and stores events in one durable transaction; batches that wait at the same time share it. */
  eventAppend(batch: EventBatch): Promise<EventAppendResult>;
  /** How many events of the batch are not duplicates now. */
  eventCountNew(batch: EventBatch): Promise<number>;
  eventGet(params: { environmentId: EnvironmentId; id: EventId }): Promise<StoredEvent | null>;
  eventList(params: EventListParams): Promise<EventPage>;
  /**
   * How many events received at or after a time started no function and resumed no run, without those that the service itself created: of
   * the newest `limit` events.
   */
  eventCountUnmatched(params: EventUnmatchedParams): Promise<number>;
  /** Events committed after a sequence number, oldest first. `reached` is where to continue, even if nothing matched. */
  eventFollow(params: EventFollowParams): Promise<{ events: StoredEvent[]; reached: number }>;
  /** The highest sequence number in use where the environment is, 0 in an empty store. */
  eventSequence(params: { environmentId: EnvironmentId }): Promise<number>;
  /**
   * A sequence number below everything that the environment received at or after a time. Events received slightly earlier may
   * follow it too: events are not committed in the order in which they are received.
   */
  eventSequenceBefore(params: { environmentId: EnvironmentId; receivedFrom: number }): Promise<number>;
  /** Calls `listener` soon after any node has committed events. Returns a function that stops it. */
  eventWatch(listener: () => void): () => void;
}

export interface EventFollowParams {
  environmentId: EnvironmentId;
  after: number;
  limit: number;
  /** The page ends once it holds this many bytes; 4 MiB by default. It always holds at least one row. */
  bytesMax?: number;
}

/** How an engine evaluates expressions over payloads: a module that exports `compileWhere`, because the embedded store reads on a separate thread. */
export type CompileWhere = (text: string) => (event: StoredEvent) => boolean;

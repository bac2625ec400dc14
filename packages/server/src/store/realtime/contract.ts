/**
 * Realtime messages: stored, numbered within their environment, and delivered to listeners on every node. Numbers have no gaps and are given in
 * the order of the commits: whoever has read up to a number has missed none below it. A channel keeps its newest messages, an environment
 * as many bytes of them, and both only for a time.
 */

import type { EnvironmentId } from "@inlet/protocol";

/** Of a channel, this many are delivered. One more is stored, which shows whether there were others. */
export const CHANNEL_MESSAGES_MAX = 10_000;

export interface NewRealtimeMessage {
  channel: string;
  topic: string;
  /** JSON text of an object, as sent to subscribers. */
  text: string;
  /** The run that published it. */
  runId: string | null;
}

export interface RealtimeMessage extends Omit<NewRealtimeMessage, "runId"> {
  environmentId: EnvironmentId;
  number: number;
}

/** Where to continue reading a channel. */
export interface RealtimeCursor {
  channel: string;
  after: number;
}

export interface RealtimeReadParams {
  environmentId: EnvironmentId;
  cursors: readonly RealtimeCursor[];
  /** The highest number to read. */
  until: number;
  /** Messages published at or before this time are left out. */
  publishedAfter: number;
  limit: number;
}

export interface RealtimeStore {
  /** Resolves with their numbers once all are stored, in one transaction, and the listeners of this node have been called. */
  realtimePublish(params: { environmentId: EnvironmentId; messages: readonly NewRealtimeMessage[]; now: number }): Promise<number[]>;
  /** The highest number given in an environment; 0: none. */
  realtimeLast(params: { environmentId: EnvironmentId }): Promise<number>;
  /** Those of these messages that are stored, and were published after a time. */
  realtimeKept(params: { environmentId: EnvironmentId; numbers: readonly number[]; publishedAfter: number }): Promise<number[]>;
  /** The number up to which messages of a channel are not delivered, because it has so many newer ones; 0: all are. */
  realtimeFloor(params: { environmentId: EnvironmentId; channel: string }): Promise<number>;
  /** In the order of their numbers. The page ends once it holds 256 KiB. `reached` is where to continue, even if nothing was found. */
  realtimeRead(params: RealtimeReadParams): Promise<{ messages: RealtimeMessage[]; reached: number }>;
  /** Calls `listener` for every message, from any node, in no certain order; with null: some may have been missed. Returns a function that stops it. */
  realtimeWatch(listener: RealtimeListener): () => void;
  /** Removes messages published at or before `publishedUntil`. Returns how many. */
  realtimeExpireMany(params: { publishedUntil: number; limit: number }): Promise<number>;
}

export type RealtimeListener = (message: RealtimeMessage | null) => void;

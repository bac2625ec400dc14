/**
 * Removing what is older than it shall be kept, a little at a time, oldest first.
 *
 * The newest event and the newest run may stay longer: an engine may number the next one after it. So may what stands in one
 * piece with things that are younger, where an engine keeps them in pieces by time.
 */

import type { EnvironmentId } from "@inlet/protocol";

export interface RemovalParams {
  /** Absent: in all environments. */
  environmentId?: EnvironmentId;
  /** What happened at or before this instant is removed. */
  until: number;
  /** Where the last call left off; null at the beginning. */
  after: string | null;
  /** How many are looked at. */
  limit: number;
}

export interface EventRemovalParams extends RemovalParams {
  /** Of this name only; needs the environment. */
  name?: string;
}

export interface Removal {
  removed: number;
  /** Where to go on; null when nothing else is old enough. */
  next: string | null;
}

/** How long things are kept; null: for ever. */
export interface RetentionTendParams {
  now: number;
  keptMs: { events: number | null; runs: number | null; requests: number | null };
}

export interface RetentionStore {
  /** Prepares the store for what is coming, and drops what is old in large pieces, where the engine keeps it in such. */
  retentionTend(params: RetentionTendParams): Promise<void>;
  /** Events received until then, but none that a run which has not ended needs, or a start that is still to be decided on; none that came since a gathering began. */
  eventExpireMany(params: EventRemovalParams): Promise<Removal>;
  /** Runs that ended until then, with everything that belongs to them. One that has not ended is never removed. */
  runExpireMany(params: RemovalParams): Promise<Removal>;
  /** What the store holds, without room that is free to be used again. */
  retentionUsedBytes(): Promise<number>;
  /** When the oldest of what may be removed was received, began or came in; null when there is nothing. */
  retentionOldestAt(): Promise<number | null>;
}

/**
 * Removing data past its retention time, in small steps, oldest first.
 *
 * The newest event and the newest run may be retained longer: an engine may derive the next number from them. So may rows in the same
 * partition as younger rows, where an engine partitions by time.
 */

import type { EnvironmentId } from "@inlet/protocol";

export interface RemovalParams {
  /** Absent: in all environments. */
  environmentId?: EnvironmentId;
  /** Rows of this time or earlier are removed. */
  until: number;
  /** Where the last call stopped; null at the beginning. */
  after: string | null;
  /** How many rows are examined. */
  limit: number;
}

export interface EventRemovalParams extends RemovalParams {
  /** Of this name only; needs the environment. */
  name?: string;
}

export interface Removal {
  removed: number;
  /** Where to continue; null if nothing else has expired. */
  next: string | null;
}

/** Retention times; null: forever. */
export interface RetentionMaintainParams {
  now: number;
  keptMs: { events: number | null; runs: number | null; requests: number | null };
}

/** What a quota on stored bytes counts, and removes oldest first. */
export const STORED_KINDS = ["events", "runs", "requests"] as const;
export type StoredKind = (typeof STORED_KINDS)[number];

/** The oldest rows of a kind that hold a number of bytes. */
export interface OldestRows {
  rows: number;
  /** The time of the last of them; null if there is none. */
  until: number | null;
}

export interface RetentionStore {
  /** Creates the partitions needed next, and drops expired ones, where the engine uses partitions. */
  retentionMaintain(params: RetentionMaintainParams): Promise<void>;
  /** Events received until then, except those needed by an unfinished run, a pending start or copy, or a batch or debounce that is collecting events. */
  eventExpireMany(params: EventRemovalParams): Promise<Removal>;
  /** Runs that ended until then, with everything that belongs to them. An unfinished run is never removed. */
  runExpireMany(params: RemovalParams): Promise<Removal>;
  /** The size of the stored data and of the write-ahead log, without reusable free space. */
  retentionUsedBytes(): Promise<number>;
  /** What the files take on disk, with free space and the write-ahead log, as soon as all of the log is in the database file. */
  retentionFileBytes(): Promise<number>;
  /** Gives back the space of the write-ahead log, unless a read uses it. */
  retentionReclaim(): Promise<void>;
  /**
   * The size of an environment's events (payload and other fields), runs (results of steps, output and error) and webhook requests (body and
   * headers). Reads all of them: the caller bounds how often.
   */
  retentionStoredBytes(params: { environmentId: EnvironmentId }): Promise<Record<StoredKind, number>>;
  /** In the order in which they are removed. */
  retentionOldestRows(params: { environmentId: EnvironmentId; kind: StoredKind; bytes: number }): Promise<OldestRows>;
  /** The time of the oldest row that may be removed; null if there is none. */
  retentionOldestAt(): Promise<number | null>;
}

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
  /** Takes the rows of a partition before it is dropped; absent: they are dropped. */
  archive?: PartitionArchive | undefined;
}

export const ARCHIVED_TABLES = ["events", "runs", "steps"] as const;
export type ArchivedTable = (typeof ARCHIVED_TABLES)[number];

/** Times are milliseconds since 1970, flags 0 or 1. */
export type ArchivedValue = string | number | null;
export type ArchivedRow = Readonly<Record<string, ArchivedValue>>;

/** The rows of one table, environment and day in a partition that no retention keeps. */
export interface ArchivedDay {
  table: ArchivedTable;
  environmentId: EnvironmentId;
  /** Counted from 1970. */
  day: number;
  /** In the order of their key, read in bounded parts. Each call reads them anew. */
  rows(): AsyncIterable<ArchivedRow>;
}

export interface PartitionArchive {
  /** Runs the work on one partition, while nobody else writes the archive. False: somebody else does. */
  alone(work: () => Promise<void>): Promise<boolean>;
  /** Within `alone`. `written`: the rows can be read from the archive; else their partition stays. `stopped`: the service stops. */
  write(day: ArchivedDay): Promise<"written" | "failed" | "stopped">;
}

/** What a quota on stored bytes counts, and removes oldest first. */
export const STORED_KINDS = ["events", "runs", "requests"] as const;
export type StoredKind = (typeof STORED_KINDS)[number];

/** The oldest rows of a kind that hold a number of bytes; of runs, only those that have ended. */
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
  /** Gives back the space of the write-ahead log. False: a read uses it, and what is removed meanwhile only makes it longer. */
  retentionReclaim(): Promise<boolean>;
  /**
   * The size of an environment's events (payload and other fields), runs (results of steps, output and error) and webhook requests (body and
   * headers). Reads all of them: the caller bounds how often.
   */
  retentionStoredBytes(params: { environmentId: EnvironmentId }): Promise<Record<StoredKind, number>>;
  /** In the order in which they are removed. */
  retentionOldestRows(params: { environmentId: EnvironmentId; kind: StoredKind; bytes: number }): Promise<OldestRows>;
  /** Since when the archive has not taken a partition that was offered to it; null: it has taken all of them. */
  retentionArchiveFailingSince(): Promise<number | null>;
  /** The time of the oldest row that may be removed; null if there is none. */
  retentionOldestAt(): Promise<number | null>;
}

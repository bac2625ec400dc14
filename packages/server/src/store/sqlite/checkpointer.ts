/**
 * Moves committed pages from the write-ahead log into the database file, on the read thread, so that accepting events does not wait
 * for it. SQLite itself would do this inside a commit, which stalls the writer.
 *
 * The log is reused only if all of it has been moved when a commit starts. Under steady load the thread never quite
 * catches up, so the writer moves the small rest itself once the log has grown.
 */

import type { DatabaseSync } from "node:sqlite";

export interface CheckpointResult {
  /** Pages in the log, and how many of them have been moved to the database file. */
  log: number;
  checkpointed: number;
}

const EVERY_MS = 250;
/** 16 MiB: beyond this the writer helps, so that the log is reused. */
const REUSE_PAGES = 4_000;

export class Checkpointer {
  readonly #db: DatabaseSync;
  readonly #checkpointElsewhere: () => Promise<CheckpointResult>;
  #timer: NodeJS.Timeout | null = null;

  constructor(db: DatabaseSync, checkpointElsewhere: () => Promise<CheckpointResult>) {
    this.#db = db;
    this.#checkpointElsewhere = checkpointElsewhere;
  }

  /** Called after every commit: an idle store does nothing. */
  noteCommit(): void {
    this.#timer ??= setTimeout(() => void this.#run(), EVERY_MS).unref();
  }

  stop(): void {
    if (this.#timer) clearTimeout(this.#timer);
    this.#timer = null;
  }

  async #run(): Promise<void> {
    // If the thread has died, the log must not grow without bound: the writer then does all the work.
    const { log } = await this.#checkpointElsewhere().catch(() => ({ log: Number.POSITIVE_INFINITY }));
    const stopped = this.#timer === null;
    this.#timer = null;
    if (!stopped && log >= REUSE_PAGES) this.#checkpointHere();
  }

  #checkpointHere(): void {
    try {
      checkpoint(this.#db);
    } catch {
      // A full disk, for instance. The log keeps the committed pages, and the next commit reports the error.
    }
  }
}

/** Never waits for readers or the writer: pages in use stay in the log until the next checkpoint. */
export function checkpoint(db: DatabaseSync): CheckpointResult {
  const row = db.prepare("PRAGMA wal_checkpoint(PASSIVE)").get() as { log: number; checkpointed: number };
  return { log: row.log, checkpointed: row.checkpointed };
}

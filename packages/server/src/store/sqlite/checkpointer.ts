/**
 * Moves committed pages from the write-ahead log into the database file, on the read thread, so that accepting does not wait
 * for it. Left to SQLite this happens inside a commit: stalls of 20 ms and more, and a sixth of the cost of an event.
 *
 * A log is reused only when all of it has been moved at the start of a commit. Under steady load the thread never quite
 * catches up, so the writer moves the small rest itself once the log has grown.
 */

import type { DatabaseSync } from "node:sqlite";

export interface CheckpointResult {
  /** Pages in the log, and how many of them are in the database file by now. */
  log: number;
  checkpointed: number;
}

const EVERY_MS = 250;
/** 16 MiB: from here on the writer helps, so that the log is reused. */
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
    // When the thread is gone, the log must not grow without end: the writer then does it all.
    const { log } = await this.#checkpointElsewhere().catch(() => ({ log: Number.POSITIVE_INFINITY }));
    const stopped = this.#timer === null;
    this.#timer = null;
    if (!stopped && log >= REUSE_PAGES) this.#checkpointHere();
  }

  #checkpointHere(): void {
    try {
      checkpoint(this.#db);
    } catch {
      // A full disk, for instance. The log keeps what is committed, and the next commit says what is wrong.
    }
  }
}

/** Never waits for readers or the writer: what is in use stays in the log until the next time. */
export function checkpoint(db: DatabaseSync): CheckpointResult {
  const row = db.prepare("PRAGMA wal_checkpoint(PASSIVE)").get() as { log: number; checkpointed: number };
  return { log: row.log, checkpointed: row.checkpointed };
}

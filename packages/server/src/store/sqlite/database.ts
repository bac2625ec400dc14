/**
 * Opens the database file, for the one writer or for a reader.
 *
 * `synchronous = FULL` makes every commit wait for the disk, so accepted events are durable. WAL lets readers on other threads
 * continue while the writer commits. `secure_delete` overwrites deleted content; erasure/sqlite.ts says what it leaves.
 */

import type { DatabaseSync } from "node:sqlite";
import { TextDatabase } from "./text-database.ts";

export const DATABASE_FILE = "inlet.db";

const CACHE_KIB = 16_384;

/** checkpointer.ts runs the checkpoints, for both connections. */
export function openWriter(path: string): DatabaseSync {
  const db = new TextDatabase(path);
  try {
    db.exec(`
      PRAGMA journal_mode = WAL;
      PRAGMA synchronous = FULL;
      PRAGMA foreign_keys = ON;
      PRAGMA secure_delete = ON;
      PRAGMA wal_autocheckpoint = 0;
      PRAGMA cache_size = -${CACHE_KIB};
    `);
  } catch (error) {
    db.close();
    throw error;
  }
  return db;
}

export function openReader(path: string): DatabaseSync {
  const db = new TextDatabase(path, { readOnly: true, timeout: 1_000 });
  try {
    db.exec(`PRAGMA cache_size = -${CACHE_KIB}`);
  } catch (error) {
    db.close();
    throw error;
  }
  return db;
}

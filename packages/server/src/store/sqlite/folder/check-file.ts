/**
 * Checks a database file before it is used, at a bounded cost: start-up time must not grow with the data.
 * Damage in a page that is read later is reported as StoreUnavailable at that time.
 */

import { existsSync, statSync } from "node:fs";
import type { DatabaseSync } from "node:sqlite";
import { StoreRefused } from "../../contract/index.ts";
import { diskFault } from "../failures.ts";

/** Files up to this size are checked completely, which takes some tens of milliseconds. */
const CHECKED_WHOLE_BYTES_MAX = 32 * 1024 * 1024;

export function checkFile(db: DatabaseSync, path: string): void {
  checkLength(db, path);
  if (statSync(path).size > CHECKED_WHOLE_BYTES_MAX) return;
  const row = db.prepare("PRAGMA quick_check(1)").get() as { quick_check: string };
  if (row.quick_check !== "ok") throw damaged(path, row.quick_check);
}

/** Turns the error of opening or reading a bad file into a sentence. */
export function refuseBadFile(path: string, error: unknown): unknown {
  if (error instanceof StoreRefused) return error;
  const fault = diskFault(error);
  return fault ? damaged(path, fault, error) : error;
}

/** Detects a truncated file, such as an incomplete copy. With a write-ahead log next to it, the file may legitimately be shorter. */
function checkLength(db: DatabaseSync, path: string): void {
  const log = `${path}-wal`;
  if (existsSync(log) && statSync(log).size > 0) return;
  const { page_count: pages } = db.prepare("PRAGMA page_count").get() as { page_count: number };
  const { page_size: pageBytes } = db.prepare("PRAGMA page_size").get() as { page_size: number };
  const missing = pages * pageBytes - statSync(path).size;
  if (missing > 0) throw damaged(path, `${missing} bytes are missing at its end`);
}

function damaged(path: string, what: string, cause?: unknown): StoreRefused {
  return new StoreRefused(
    `the database ${path} cannot be used: ${what}. Nothing was changed. Restore the data folder from a copy, or move it away to start empty.`,
    cause,
  );
}

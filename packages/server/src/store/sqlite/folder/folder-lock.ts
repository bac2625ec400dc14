/**
 * Ensures that only one process at a time uses a data folder.
 *
 * The lock is SQLite's own: an exclusive transaction, held open, on a dedicated file. The operating system releases it
 * when the process ends in any way, so a crash leaves nothing to clean up.
 */

import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { StoreRefused } from "../../contract/index.ts";
import { diskFault } from "../failures.ts";

export const SQLITE_BUSY = 5;

export const LOCK_FILE = "inlet.lock";
export const PID_FILE = "inlet.pid";

export interface FolderLock {
  release(): void;
}

export function lockFolder(folder: string): FolderLock {
  const pidFile = join(folder, PID_FILE);
  let db: DatabaseSync | undefined;
  try {
    db = new DatabaseSync(join(folder, LOCK_FILE));
    db.exec("BEGIN EXCLUSIVE");
    writeFileSync(pidFile, `${process.pid}\n`, { mode: 0o600 });
  } catch (error) {
    db?.close();
    throw refused(folder, pidFile, error);
  }
  return { release: () => db.close() };
}

function refused(folder: string, pidFile: string, error: unknown): StoreRefused {
  if ((error as { errcode?: number }).errcode === SQLITE_BUSY) {
    return new StoreRefused(
      `the data folder ${folder} is in use by another Inlet process (pid ${pidIn(pidFile)}). Stop it, or choose another folder with --data-dir.`,
      error,
    );
  }
  const fault = diskFault(error) ?? (error as Error).message;
  return new StoreRefused(`the data folder ${folder} cannot be used: ${fault}`, error);
}

function pidIn(path: string): string {
  try {
    return readFileSync(path, "utf8").trim();
  } catch {
    return "unknown";
  }
}

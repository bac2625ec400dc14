/**
 * Restores a backup into an empty folder. The copy is verified against the checksum before it gets its final name, so a folder contains
 * the whole database or none. The folder is locked until then: a service that starts in the meantime would lose its files under its hands.
 * A folder whose restore was killed can be used again.
 */

import { closeSync, existsSync, fsyncSync, openSync, readdirSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { StoreRefused } from "../../contract/index.ts";
import { DATABASE_FILE } from "../database.ts";
import { diskFault } from "../failures.ts";
import { LOCK_FILE, lockFolder, PID_FILE } from "../folder/folder-lock.ts";
import { KEY_FILE } from "../folder/key-file.ts";
import { makeFolder } from "../folder/make-folder.ts";
import { type BackupHeader, copyHashed, HEADER_BYTES, readHeader, refuseCutOff } from "./backup-file.ts";
import { checkDatabase } from "./check-database.ts";
import { syncFolder } from "./make-backup.ts";

const RESTORING_FILE = `${DATABASE_FILE}.restoring`;
const OF_THE_LOCK: ReadonlySet<string> = new Set([LOCK_FILE, `${LOCK_FILE}-journal`, PID_FILE]);

export interface RestoreBackupOptions {
  from: string;
  folder: string;
}

/** Throws StoreRefused if the folder is not empty or cannot be written, or the file is damaged. */
export function restoreBackup({ from, folder }: RestoreBackupOptions): BackupHeader {
  const header = readHeader(from);
  refuseCutOff(from, header);
  try {
    return restoreChecked(from, folder, header);
  } catch (error) {
    if (error instanceof StoreRefused) throw error;
    throw new StoreRefused(`the backup could not be restored: ${diskFault(error) ?? (error as Error).message}`, error);
  }
}

function restoreChecked(from: string, folder: string, header: BackupHeader): BackupHeader {
  refuseFull(folder);
  makeFolder(folder);
  const lock = lockFolder(folder);
  const part = join(folder, RESTORING_FILE);
  try {
    // Once more: a service may have used it until just now.
    refuseFull(folder);
    copyChecked(from, part, header);
    checkDatabase(part);
    if (header.encryptionKey !== null) writeKey(join(folder, KEY_FILE), header.encryptionKey);
    renameSync(part, join(folder, DATABASE_FILE));
    syncFolder(folder);
    return header;
  } finally {
    for (const file of [part, `${part}-wal`, `${part}-shm`]) rmSync(file, { force: true });
    lock.release();
  }
}

function refuseFull(folder: string): void {
  const found = existsSync(folder)
    ? readdirSync(folder).filter((name) => !name.startsWith(RESTORING_FILE) && !OF_THE_LOCK.has(name) && !isLeftOver(folder, name))
    : [];
  if (found.length > 0) throw new StoreRefused(`the folder ${folder} is not empty (${found[0]}); choose another with --data-dir`);
}

/**
 * The key is written before the database gets its final name: a key without a database is left by a killed restore. A database without a
 * byte is left by a service that was refused during one.
 */
function isLeftOver(folder: string, name: string): boolean {
  if (name === DATABASE_FILE) return statSync(join(folder, name)).size === 0;
  return name === KEY_FILE && existsSync(join(folder, RESTORING_FILE));
}

function writeKey(path: string, key: string): void {
  // Left behind by a restore that was killed.
  rmSync(path, { force: true });
  writeFileSync(path, key, { mode: 0o600, flag: "wx", flush: true });
}

function copyChecked(from: string, part: string, header: BackupHeader): void {
  rmSync(part, { force: true });
  const file = openSync(part, "wx", 0o600);
  try {
    const { sha256 } = copyHashed(from, HEADER_BYTES, file, 0);
    if (sha256 !== header.sha256) throw new StoreRefused(`the backup ${from} is damaged: its checksum is not the one it was made with`);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}

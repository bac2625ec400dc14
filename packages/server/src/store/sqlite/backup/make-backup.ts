/**
 * Makes a backup of a data folder, even while a service uses it: SQLite's online backup, in one step, of a snapshot taken at the start.
 * It contains everything acknowledged before. A file under the final name is always complete.
 */

import { accessSync, closeSync, constants, existsSync, fsyncSync, openSync, readFileSync, renameSync, rmSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { backup, DatabaseSync } from "node:sqlite";
import { StoreRefused } from "../../contract/index.ts";
import { DATABASE_FILE } from "../database.ts";
import { diskFault } from "../failures.ts";
import { KEY_FILE } from "../folder/key-file.ts";
import { readMove } from "../folder/moved-folder.ts";
import { type BackupHeader, copyHashed, HEADER_BYTES, writeHeader } from "./backup-file.ts";
import { checkDatabase } from "./check-database.ts";

/** All pages in one step: a backup in several steps restarts whenever another process writes. */
const ALL_PAGES = 2 ** 31 - 1;

export interface MakeBackupOptions {
  folder: string;
  to: string;
}

/** Throws StoreRefused if there is nothing to back up, or the file already exists. */
export async function makeBackup({ folder, to }: MakeBackupOptions): Promise<BackupHeader> {
  const path = join(folder, DATABASE_FILE);
  refuseUnreadable(folder, path);
  const move = readMove(folder);
  if (move)
    throw new StoreRefused(`the data in ${folder} was moved to ${move.to}: back up that database with pg_dump, see docs/operation.md`);
  if (existsSync(to)) throw new StoreRefused(`${to} already exists; choose another name with --to`);
  const [copy, part] = [`${to}.copy`, `${to}.part`];
  try {
    const schema = await copyDatabase(path, copy);
    const header = writeBackup(copy, part, { schema, encryptionKey: keyIn(folder) });
    renameSync(part, to);
    syncFolder(dirname(resolve(to)));
    return header;
  } catch (error) {
    if (error instanceof StoreRefused) throw error;
    throw new StoreRefused(`the backup could not be written: ${diskFault(error) ?? (error as Error).message}`, error);
  } finally {
    for (const file of [copy, `${copy}-journal`, `${copy}-wal`, `${copy}-shm`, part]) rmSync(file, { force: true });
  }
}

function refuseUnreadable(folder: string, path: string): void {
  try {
    accessSync(path, constants.R_OK);
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === "ENOENT") throw new StoreRefused(`there is no store in ${folder}; see --data-dir`, error);
    throw new StoreRefused(`the store in ${folder} cannot be read by this user: ${message}`, error);
  }
}

async function copyDatabase(path: string, copy: string): Promise<number> {
  // Left behind by a backup that was killed.
  rmSync(copy, { force: true });
  closeSync(openSync(copy, "w", 0o600));
  const source = new DatabaseSync(path, { readOnly: true, timeout: 10_000 });
  try {
    await backup(source, copy, { rate: ALL_PAGES });
  } finally {
    source.close();
  }
  return checkDatabase(copy);
}

function keyIn(folder: string): string | null {
  const path = join(folder, KEY_FILE);
  return existsSync(path) ? readFileSync(path, "utf8") : null;
}

function writeBackup(copy: string, part: string, facts: Pick<BackupHeader, "schema" | "encryptionKey">): BackupHeader {
  const file = openSync(part, "w", 0o600);
  try {
    const header = { createdAt: new Date().toISOString(), ...facts, ...copyHashed(copy, 0, file, HEADER_BYTES) };
    writeHeader(file, header);
    fsyncSync(file);
    return header;
  } finally {
    closeSync(file);
  }
}

/** Makes the file's name survive a power failure. Not every system allows a folder to be opened. */
export function syncFolder(folder: string): void {
  try {
    const opened = openSync(folder, "r");
    fsyncSync(opened);
    closeSync(opened);
  } catch {}
}

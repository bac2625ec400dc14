/**
 * Makes a backup of a data folder, even while a service uses it: `VACUUM INTO` writes the rows of a snapshot taken at the start into a new
 * file. It contains everything acknowledged before, and nothing of the unused bytes of pages, where copies of erased rows may be left. A
 * file under the final name is always complete.
 *
 * A backup holds every payload and the encryption key, and may be made in a folder that others can write to. It is therefore written in a
 * folder that only its owner can enter, with files that did not exist before: nothing prepared by others is opened or followed.
 */

import { randomBytes } from "node:crypto";
import {
  accessSync,
  closeSync,
  constants,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
} from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { StoreRefused } from "../../contract/index.ts";
import { DATABASE_FILE } from "../database.ts";
import { diskFault } from "../failures.ts";
import { KEY_FILE } from "../folder/key-file.ts";
import { readMove } from "../folder/moved-folder.ts";
import { type BackupHeader, copyHashed, HEADER_BYTES, writeHeader } from "./backup-file.ts";
import { checkDatabase } from "./check-database.ts";

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
    throw new StoreRefused(
      `the data in ${folder} was moved to ${move.to}: back up that database with pg_dump, see docs/how-to/operation.md`,
    );
  refuseExisting(to);
  const folderMade = `${to}.part-${process.pid}-${randomBytes(8).toString("hex")}`;
  const [copy, part] = [join(folderMade, "copy"), join(folderMade, "backup")];
  try {
    removeLeftOvers(to);
    mkdirSync(folderMade, { mode: 0o700 });
    const schema = copyDatabase(path, copy);
    const header = writeBackup(copy, part, { schema, encryptionKey: keyIn(folder) });
    refuseExisting(to);
    renameSync(part, to);
    syncFolder(dirname(resolve(to)));
    return header;
  } catch (error) {
    if (error instanceof StoreRefused) throw error;
    throw new StoreRefused(`the backup could not be written: ${diskFault(error) ?? (error as Error).message}`, error);
  } finally {
    rmSync(folderMade, { recursive: true, force: true });
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

function refuseExisting(to: string): void {
  if (existsSync(to)) throw new StoreRefused(`${to} already exists; choose another name with --to`);
}

/**
 * Of killed backups to this file. The folder of one that is under way is left alone: of two, the first to be complete gets the name. A
 * process in another container is not seen, or has this one's id: its backup fails, this one is made.
 */
function removeLeftOvers(to: string): void {
  const folder = dirname(resolve(to));
  const prefix = `${basename(to)}.part`;
  for (const name of readdirSync(folder).filter((name) => name.startsWith(prefix))) {
    const [end, digits] = /^(?:-(\d+)(?:-[0-9a-f]+)?)?$/.exec(name.slice(prefix.length)) ?? [];
    const pid = Number(digits ?? process.pid);
    const isLeftOver = end !== undefined && (pid === process.pid || !isRunning(pid));
    if (isLeftOver) rmSync(join(folder, name), { recursive: true, force: true, maxRetries: 3 });
  }
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    // Another user's.
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}

function copyDatabase(path: string, copy: string): number {
  closeSync(openSync(copy, "wx", 0o600));
  const source = new DatabaseSync(path, { readOnly: true, timeout: 10_000 });
  try {
    source.prepare("VACUUM INTO ?").run(copy);
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
  const file = openSync(part, "wx", 0o600);
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

/**
 * Payloads and keys are private: only the owner can access the data folder (0700) and every store file in it (0600). Files are created
 * with this mode before SQLite opens them; files that SQLite adds get the mode of the database.
 */

import { chmodSync, closeSync, openSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { StoreRefused } from "../../contract/index.ts";
import { DATABASE_FILE } from "../database.ts";
import { LOCK_FILE } from "./folder-lock.ts";
import { makeFolder } from "./make-folder.ts";

const OTHERS = 0o077;
/** The prefix of every file of the store. */
const OWN_FILE = /^inlet\./;
/** Created by file systems, not by people. */
const NOBODYS_FILES: ReadonlySet<string> = new Set(["lost+found"]);

export function makePrivateFolder(folder: string): void {
  try {
    makeFolder(folder);
  } catch (error) {
    throw new StoreRefused(`the data folder ${folder} cannot be created: ${(error as Error).message}`, error);
  }
  // Windows has no such modes.
  if (process.platform === "win32") return;
  const names = listed(folder);
  if ((statSync(folder).mode & OTHERS) !== 0) mend(folder, names);
  for (const name of names.filter((name) => OWN_FILE.test(name))) {
    const file = join(folder, name);
    if ((statSync(file).mode & OTHERS) !== 0) close(file, 0o600);
  }
  for (const name of [DATABASE_FILE, LOCK_FILE]) makeFile(join(folder, name));
}

function listed(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch (error) {
    throw new StoreRefused(`the data folder ${folder} cannot be read: ${(error as Error).message}`, error);
  }
}

/** The mode of a folder that is shared with other programs is left unchanged. */
function mend(folder: string, names: readonly string[]): void {
  const stranger = names.find((name) => !OWN_FILE.test(name) && !NOBODYS_FILES.has(name));
  if (stranger === undefined) return close(folder, 0o700);
  throw new StoreRefused(
    `the data folder ${folder} can be read by other users of this machine, and its mode is not changed because it also contains ${stranger}. Choose a folder for Inlet alone with --data-dir, or run: chmod 700 ${folder}`,
  );
}

function close(path: string, mode: number): void {
  try {
    chmodSync(path, mode);
  } catch (error) {
    // If the disk is read-only, opening the store fails with a better reason.
    if ((error as NodeJS.ErrnoException).code === "EROFS") return;
    throw new StoreRefused(
      `${path} can be read by other users of this machine, and this user may not change that (${(error as Error).message}). Choose a folder that Inlet can create itself with --data-dir, or run: chmod ${mode.toString(8)} ${path}`,
      error,
    );
  }
}

/** If a file cannot be created here, opening it fails with a better reason. */
function makeFile(path: string): void {
  try {
    closeSync(openSync(path, "a", 0o600));
  } catch {
    // See above.
  }
}

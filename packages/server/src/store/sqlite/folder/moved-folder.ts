/**
 * A folder whose data is being copied, or was copied, to a shared store contains a file that says so, and is no longer used: two services
 * on the same data would run every schedule and every sleeping run twice, and neither would see what the other accepts.
 */

import { existsSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { StoreRefused } from "../../contract/index.ts";

export const MOVED_FILE = "inlet.moved";

export interface Move {
  /** The same name is recorded in the target database. */
  copyId: string;
  /** For people: where the data is now. */
  to: string;
}

export function readMove(folder: string): Move | null {
  const file = join(folder, MOVED_FILE);
  return existsSync(file) ? (JSON.parse(readFileSync(file, "utf8")) as Move) : null;
}

/** A file under the final name is always complete: a killed process starts over. */
export function writeMove(folder: string, move: Move): void {
  const file = join(folder, MOVED_FILE);
  writeFileSync(`${file}.new`, `${JSON.stringify(move)}\n`, { mode: 0o600, flush: true });
  renameSync(`${file}.new`, file);
}

export function refuseMoved(folder: string): void {
  const move = readMove(folder);
  if (!move) return;
  throw new StoreRefused(
    `the data in ${folder} was moved to ${move.to}: start with --database-url. To go back to this folder as it was then, make sure that nothing runs there and delete ${join(folder, MOVED_FILE)}.`,
  );
}

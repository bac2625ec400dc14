/**
 * Where a run of tests keeps its files: in memory if the machine offers that, because most of a commit is waiting for a disk. No test
 * needs its files after a crash of the machine; those that kill processes find everything in memory, too.
 */

import { chmodSync, mkdtempSync, rmSync, statfsSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const MEMORY = "/dev/shm";
/** A run uses less than half of it. */
const BYTES_MIN = 4 * 1024 ** 3;
/** As /tmp: PostgreSQL runs as another user if the tests are run by root. */
const OPEN_TO_ALL = 0o1777;

/** A new folder that is removed when the process exits. */
export function temporaryRoot(): string {
  const folder = mkdtempSync(join(hasRoom(MEMORY) ? MEMORY : tmpdir(), "inlet-tests-"));
  chmodSync(folder, OPEN_TO_ALL);
  process.once("exit", () => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }));
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => process.exit(1));
  return folder;
}

function hasRoom(folder: string): boolean {
  try {
    const { bavail, bsize } = statfsSync(folder);
    return bavail * bsize >= BYTES_MIN;
  } catch {
    return false;
  }
}

/** Disks for tests of full and read-only ones. Making a small one needs root on Linux. */

import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, statfsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { onEnd } from "./on-end.ts";
import { temporaryFolder } from "./service.ts";

export const DISK_BYTES = 8 * 1024 * 1024;

/** A folder on a small tmpfs of its own, or null where none can be made. */
export function smallDisk(t: TestContext): string | null {
  const folder = join(temporaryFolder(t), "disk");
  mkdirSync(folder);
  try {
    execFileSync("mount", ["-t", "tmpfs", "-o", `size=${DISK_BYTES}`, "tmpfs", folder], { stdio: "ignore" });
  } catch {
    return null;
  }
  onEnd(t, () => execFileSync("umount", ["-l", folder], { stdio: "ignore" }));
  return folder;
}

/** Writes a file that takes all the room there is. The service writes too, so there may be less by then: the disk is full all the same. */
export function fillDisk(disk: string, name: string): void {
  const { bavail, bsize } = statfsSync(disk);
  try {
    writeFileSync(join(disk, name), Buffer.alloc(bavail * bsize));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOSPC") throw error;
  }
}

/** A folder that is not in memory: file systems there let a file that is open be written, immutable or not. */
export function folderOnDisk(t: TestContext): string {
  const folder = mkdtempSync("/var/tmp/inlet-test-");
  onEnd(t, () => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

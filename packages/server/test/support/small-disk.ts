/** A disk that is soon full: a small tmpfs of the test's own. Making it needs root on Linux. */

import { execFileSync } from "node:child_process";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { onEnd } from "./on-end.ts";
import { temporaryFolder } from "./service.ts";

export const DISK_BYTES = 8 * 1024 * 1024;

/** A folder on a disk of its own, or null where none can be made. */
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

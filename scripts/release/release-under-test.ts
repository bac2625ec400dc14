/** One release for all tests of a process that look into it or install it: to build one takes longer than most of them. */

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after } from "node:test";
import { buildRelease, type Release } from "./build-release.ts";

let built: { folder: string; release: Promise<Release> } | null = null;

after(async () => {
  await built?.release.catch(() => undefined);
  if (built) rmSync(built.folder, { recursive: true, force: true });
});

/** Built when it is first asked for. */
export function releaseUnderTest(): Promise<Release> {
  if (!built) {
    const folder = mkdtempSync(join(tmpdir(), "inlet-release-test-"));
    built = { folder, release: buildRelease(join(folder, "dist")) };
  }
  return built.release;
}

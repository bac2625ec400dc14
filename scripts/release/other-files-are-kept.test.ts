/** The folder of a release is replaced as a whole: only if nothing but a release is in it. */

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { fileURLToPath } from "node:url";
import { isReplaceable, writeChecksums } from "./write-provenance.ts";

function temporaryFolder(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), "inlet-release-folder-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

test("a folder with other files is refused, and left as it is", (t) => {
  const out = temporaryFolder(t);
  writeFileSync(join(out, "thesis.txt"), "years of work");
  const main = fileURLToPath(new URL("main.ts", import.meta.url));
  const { status, stderr } = spawnSync(process.execPath, [main, "--out", out], { encoding: "utf8" });
  assert.deepEqual([status, stderr], [1, `error: ${out} has other files than a release. Name an empty folder, or delete it.\n`]);
  assert.ok(existsSync(join(out, "thesis.txt")));
});

test("a folder is replaced that is missing or empty, or has nothing but a release", (t) => {
  const out = temporaryFolder(t);
  assert.ok(isReplaceable(join(out, "missing")));
  assert.ok(isReplaceable(out));
  mkdirSync(join(out, "image"));
  writeFileSync(join(out, "image/Dockerfile"), "FROM scratch");
  assert.ok(!isReplaceable(out), "nothing says that it is a release");
  writeChecksums(out);
  assert.ok(isReplaceable(out));
  mkdirSync(join(out, ".git"));
  writeFileSync(join(out, ".git/HEAD"), "ref");
  assert.ok(!isReplaceable(out));
});

/**
 * From the first release on: a store written by every released tag (`v*`) is opened, migrated and used by this checkout, on both engines.
 * While there is no tag, this checkout stands in for a release, so that what will be relied on is known to work: before a release, tables
 * may change without a migration.
 */

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { cpSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { type TestContext, test } from "node:test";
import { checkOutBase, ROOT } from "../../bench/base-checkout.ts";
import { freshDatabase, whyNoPostgres } from "../../packages/server/test/support/postgres.ts";
import { INLET_BIN } from "../../packages/server/test/support/process.ts";
import { temporaryFolder } from "../../packages/server/test/support/service.ts";
import { useStore, writeStore } from "./released-store.ts";

const { stdout } = spawnSync("git", ["tag", "--list", "v*"], { cwd: ROOT, encoding: "utf8" });
const tags = (stdout ?? "").split("\n").filter(Boolean);
const MADE_UP = "v0.0.0-made-up";
const releases = tags.length > 0 ? tags : [MADE_UP];

test("which releases are tried", (t) => {
  if (tags.length === 0) t.diagnostic("nothing is released yet (no tag v*): this checkout stands in for a release");
  else t.diagnostic(`released: ${tags.join(", ")}`);
});

for (const release of releases) {
  test(`a store written by ${release} is opened, migrated and used`, async (t) => {
    const program = release === MADE_UP ? INLET_BIN : programOf(t, release);
    await t.test("embedded", async (t) => {
      const folder = temporaryFolder(t);
      const flags = (name: string) => ["--data-dir", join(folder, name)];
      const left = await writeStore(t, program, flags("store"));
      cpSync(join(folder, "store"), join(folder, "damaged"), { recursive: true });
      await useStore(t, flags("store"), left);
      // The check itself can fail: a store that lost a table is not taken for a good one.
      damage(join(folder, "damaged"));
      await assert.rejects(useStore(t, flags("damaged"), left));
    });
    await t.test("PostgreSQL", { skip: whyNoPostgres() ?? false }, async (t) => {
      const flags = ["--database-url", await freshDatabase(t), "--data-dir", temporaryFolder(t)];
      await useStore(t, flags, await writeStore(t, program, flags));
    });
  });
}

function programOf(t: TestContext, release: string): string {
  const checkout = checkOutBase(release);
  t.after(() => checkout.remove());
  return join(checkout.folder, "packages/cli/bin/inlet.js");
}

function damage(folder: string): void {
  const file = readdirSync(folder).find((name) => name.endsWith(".db"));
  const db = new DatabaseSync(join(folder, file ?? ""), { enableForeignKeyConstraints: false });
  db.exec("DROP TABLE events");
  db.close();
}

/**
 * A guarantee across stages is tested on the embedded store and on PostgreSQL: its tests come from support/both-stores.ts. A file whose services all
 * have the embedded store is listed here with the reason, so that a test on one engine is a decision and not an oversight.
 */

import assert from "node:assert/strict";
import { existsSync, globSync, readFileSync } from "node:fs";
import { test } from "node:test";

const ON_ONE_ENGINE: Readonly<Record<string, readonly string[]>> = {
  "the files of the embedded store": ["bad-folders-are-refused"],
  "how providers are asked: what is recovered is tested on both": ["presets-recover-what-was-never-delivered"],
  "what is decided before the store is asked": [
    "apps-cannot-lead-elsewhere",
    "credentials-come-before-bodies",
    "decoded-bodies-are-counted",
    "documentation-is-served",
    "http-is-read-as-node-reads-it",
    "other-sites-cannot-use-a-dev-server",
    "schemas-are-cheap-for-every-event",
  ],
};

const STARTS_SERVICE = /\bstart(?:Test)?Service\(/;
const KNOWS_POSTGRES = /both-stores|postgres/i;

test("every test that starts services runs on PostgreSQL, too, or says why not", () => {
  const listed = Object.values(ON_ONE_ENGINE).flat();
  const embedded = globSync("*.test.ts", { cwd: import.meta.dirname })
    .filter((file) => {
      const text = readFileSync(`${import.meta.dirname}/${file}`, "utf8");
      return STARTS_SERVICE.test(text) && !KNOWS_POSTGRES.test(text);
    })
    .map((file) => file.replace(".test.ts", ""));
  const unlisted = embedded.filter((file) => !listed.includes(file));
  assert.deepEqual(unlisted, [], "import `test` from support/both-stores.ts, or name the reason here");
  for (const file of listed) assert.ok(existsSync(`${import.meta.dirname}/${file}.test.ts`), `there is no ${file}`);
});

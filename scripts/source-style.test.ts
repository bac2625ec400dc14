/** Rules of the source that neither the formatter nor the type checker knows. */

import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("../", import.meta.url));
const SOURCES = ["packages/*/{src,test}/**/*.{ts,tsx}", "{scripts,bench}/**/*.ts"];
/** A literal that is spread into another one only steers the formatter. */
const SPREAD_LITERAL = /^\s*\.\.\.\{ /;

test("no literal is spread into another one", () => {
  const files = SOURCES.flatMap((pattern) => globSync(pattern, { cwd: ROOT }));
  assert.ok(files.includes("scripts/source-style.test.ts"));
  const found = files.flatMap((file) =>
    readFileSync(`${ROOT}${file}`, "utf8")
      .split("\n")
      .flatMap((line, index) => (SPREAD_LITERAL.test(line) ? [`${file}:${index + 1}`] : [])),
  );
  assert.deepEqual(found, []);
});

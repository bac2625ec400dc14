import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { test } from "node:test";
import { REFERENCES } from "./references.ts";

for (const [file, text] of Object.entries(REFERENCES)) {
  test(`docs/${file} says what the code says`, () => {
    const written = readFileSync(new URL(`../docs/${file}`, import.meta.url), "utf8");
    assert.equal(written, text, "run `npm run docs`");
  });
}

test("docs/errors has no page of a code that does not exist", () => {
  const written = globSync("errors/*.md", { cwd: new URL("../docs", import.meta.url) });
  assert.deepEqual(
    written.filter((file) => !(file in REFERENCES)),
    [],
  );
});

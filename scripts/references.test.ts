import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { test } from "node:test";
import { FUNCTIONS } from "../packages/server/src/fan-out/cel/functions.ts";
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

test("docs/reference/expressions.md names every function of the language, and no other", () => {
  const page = readFileSync(new URL("../docs/reference/expressions.md", import.meta.url), "utf8");
  const [, table = ""] = /^## Functions\n([\s\S]*?)^## /m.exec(page) ?? [];
  const named = [...table.matchAll(/^\| (.*?) \|/gm)].flatMap(([, cell = ""]) =>
    [...cell.matchAll(/(\w+)\(/g)].map(([, name = ""]) => name),
  );
  const loops = ["all", "exists", "exists_one", "filter", "map"];
  assert.deepEqual([...new Set(named)].sort(), [...FUNCTIONS.keys(), ...loops].sort());
});

test("docs/reference/events.md names every event that the service emits, and no other", () => {
  const page = readFileSync(new URL("../docs/reference/events.md", import.meta.url), "utf8");
  const ROOT = new URL("../packages/server/src/", import.meta.url);
  const sources = globSync("**/*.ts", { cwd: ROOT }).filter((file) => !/\.test\.ts$|conformance/.test(file));
  const emitted = sources.flatMap((file) => [
    ...readFileSync(new URL(file.replaceAll("\\", "/"), ROOT), "utf8").matchAll(/"((?:inlet|inngest)\/[a-z-]+\.[a-z]+)"/g),
  ]);
  const named = [...page.matchAll(/`((?:inlet|inngest)\/[a-z-]+\.[a-z]+)`/g)];
  const names = (found: RegExpExecArray[]) => [...new Set(found.map(([, name = ""]) => name))].sort();
  assert.deepEqual(names(named), names(emitted));
});

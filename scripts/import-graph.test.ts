import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { findCircles, importsOf, readImportGraph } from "./import-graph.ts";

function circlesOf(graph: Record<string, string[]>): string[][] {
  return findCircles(new Map(Object.entries(graph)));
}

test("every form of import is found", () => {
  const text = `
import { a } from "./value.ts";
import type { B } from "./type.ts";
import {
  c,
  d,
} from "./several-lines.ts";
import "./side-effect.ts";
export * from "./everything.ts";
export { type E, e } from "./some.ts";
export const late = async () => (await import("./late.ts")).late();
type F = typeof import("./types-of.ts");
`;
  assert.deepEqual(
    importsOf(text).map((specifier) => specifier.slice(2, -3)),
    ["value", "type", "several-lines", "side-effect", "everything", "some", "late", "types-of"],
  );
});

test("files that share what they import make no circle", () => {
  assert.deepEqual(circlesOf({ a: ["b", "c"], b: ["d"], c: ["d", "b"], d: [] }), []);
});

test("a circle is told as the path around it, without what leads to it", () => {
  assert.deepEqual(circlesOf({ main: ["a"], a: ["b"], b: ["c", "leaf"], c: ["a"], leaf: [] }), [["a", "b", "c", "a"]]);
});

test("a file that imports itself is a circle", () => {
  assert.deepEqual(circlesOf({ a: ["a"] }), [["a", "a"]]);
});

test("circles apart from each other are all told", () => {
  assert.deepEqual(circlesOf({ a: ["b"], b: ["a"], c: ["d"], d: ["c"] }), [
    ["a", "b", "a"],
    ["c", "d", "c"],
  ]);
});

test("a circle through types, a late import and the name of a package is found in a folder of files", () => {
  const root = mkdtempSync(join(tmpdir(), "inlet-imports-"));
  const files: Record<string, string> = {
    "packages/one/package.json": '{ "name": "@inlet/one", "exports": { ".": "./src/index.ts", "./part": "./src/part.ts" } }',
    "packages/one/src/index.ts": 'export const late = () => import("./part.ts");',
    "packages/one/src/part.ts": 'import type { Two } from "../../two/src/two.ts";\nexport type Part = Two;',
    "packages/two/package.json": '{ "name": "@inlet/two" }',
    "packages/two/src/two.ts": 'import { readFileSync } from "node:fs";\nexport type { Part as Two } from "@inlet/one/part";',
    "packages/two/node_modules/other/src/index.ts": 'import "./index.ts";',
  };
  try {
    for (const [file, text] of Object.entries(files)) {
      mkdirSync(dirname(join(root, file)), { recursive: true });
      writeFileSync(join(root, file), text);
    }
    const circles = findCircles(readImportGraph(root));
    assert.equal(circles.length, 1);
    assert.deepEqual([...new Set(circles[0])].sort(), ["packages/one/src/part.ts", "packages/two/src/two.ts"]);
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
});

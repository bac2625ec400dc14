import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { exportedNamesOf, sourceSize } from "./source-size.ts";

test("lines, files and exported names of sources are counted, those of tests are not", () => {
  const root = mkdtempSync(join(tmpdir(), "inlet-size-"));
  const files: Record<string, string> = {
    "packages/one/src/a.ts": "export const a = 1;\nconst b = 2;\n",
    "packages/one/src/deep/table.sql": "CREATE TABLE t (\n  id int\n)",
    "packages/one/src/a.test.ts": "export const never = 1;\n",
    "packages/one/src/store/conformance/suite.ts": "export const never = 1;\n",
    "packages/one/src/store/jobs/conformance.ts": "export const never = 1;\n",
    "packages/one/test/whole.test.ts": "export const never = 1;\n",
  };
  try {
    for (const [file, text] of Object.entries(files)) {
      mkdirSync(dirname(join(root, file)), { recursive: true });
      writeFileSync(join(root, file), text);
    }
    assert.deepEqual(sourceSize(root), { files: 2, lines: 5, exportedNames: 1 });
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
});

test("a name counts where it is declared, not where it is passed on", () => {
  const text = `export interface A {}
export type B = A;
export async function c() {}
export class D {}
export abstract class E {}
export const f = 1;
export { g } from "./g.ts";
export type { H } from "./h.ts";
export * from "./i.ts";
`;
  assert.equal(exportedNamesOf(text), 6);
});

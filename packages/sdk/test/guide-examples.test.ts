/** The examples of docs/reference/sdk.md, the tutorial, the recipes and the package's README: all of them compile, those that can are run. */

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import test from "node:test";
import { fileURLToPath } from "node:url";
import { RECIPE_STUBS, RECIPES } from "./recipe-stubs.ts";

const ROOT = fileURLToPath(new URL("../../..", import.meta.url));

/** What a short example takes for granted. */
const PREAMBLE = `
import { Inlet, NonRetriableError, RetryAfterError, SendError, StepError } from "@inlet/sdk";
declare const inlet: Inlet;
export const granted = { Inlet, NonRetriableError, RetryAfterError, SendError, StepError };
`;

test("the guide's examples compile, and the one on testing runs", (t) => {
  const folder = mkdtempSync(join(tmpdir(), "inlet-guide-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  symlinkSync(join(ROOT, "node_modules"), join(folder, "node_modules"), "junction");
  writeFileSync(join(folder, "package.json"), '{"type":"module"}');
  const guides = ["docs/reference/sdk.md", "docs/tutorials/first-function.md", "packages/sdk/README.md"].flatMap(examplesOf);
  const examples = [...guides, ...RECIPES.flatMap((page) => examplesOf(`docs/${page}`)).map((code) => RECIPE_STUBS + code)];
  assert(examples.length > 10, `only ${examples.length} examples found`);
  examples.forEach((code, i) => {
    writeFileSync(join(folder, `example-${i}.ts`), code.includes("new Inlet(") ? code : PREAMBLE + code);
  });
  const compilerOptions = {
    strict: true,
    noEmit: true,
    target: "es2024",
    module: "nodenext",
    types: ["node"],
    allowImportingTsExtensions: true,
    skipLibCheck: true,
  };
  writeFileSync(join(folder, "tsconfig.json"), JSON.stringify({ compilerOptions, include: ["*.ts"] }));
  const typescript = dirname(createRequire(import.meta.url).resolve("typescript/package.json"));
  execFileSync(process.execPath, [join(typescript, "bin/tsc"), "-p", folder], { stdio: "inherit" });
  const runnable = examples.findIndex((code) => code.includes("runFunction("));
  execFileSync(process.execPath, [join(folder, `example-${runnable}.ts`)], { stdio: "inherit" });
});

function examplesOf(file: string): string[] {
  return [...readFileSync(join(ROOT, file), "utf8").matchAll(/^```ts\n(.*?)^```$/gms)].map((match) => match[1] ?? "");
}

/**
 * Mutates the pure rules in every way that StrykerJS supports, one mutant at a time, and lists the mutants that no unit test detects.
 *
 *   npm run mutate                        all of them: more than an hour on two cores, so it is not part of `npm test`
 *   npm run mutate -- packages/protocol   files below a folder, or single files
 *
 * Each file is tested only with the unit tests that reach it through imports, so that a mutant costs a fraction of a
 * second. A mutant that makes them loop counts as detected.
 */

import { existsSync, globSync, readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { Stryker } from "@stryker-mutator/core";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
/** Rules: pure functions of their input. */
const RULES = [
  "packages/protocol/src/*.ts",
  "packages/server/src/deduplicate/*.ts",
  "packages/server/src/fan-out/**/*.ts",
  "packages/server/src/execute/steps/*.ts",
  "packages/server/src/receive/{connections/{client-ip,target},senders/{check-names,environment-concerned,ip-list},bodies/{event-content-type,parse-events}}.ts",
];
/** Excluded: tables of texts, types, and code that reads and writes, which other tests cover. */
const NO_RULES = [
  "index.ts",
  "error-codes.ts",
  "cel-function.ts",
  "when-needed.ts",
  "registry.ts",
  "register-app.ts",
  "function-starts.ts",
];
/** Not needed by the tests of rules, and not copied for them. StrykerJS would read tsconfig.json in a way that TypeScript 7 has not. */
const LEFT_OUT = [
  "tsconfig.json",
  "bench",
  "docs",
  "examples",
  "scripts",
  "packages/cli",
  "packages/dashboard",
  "packages/sdk",
  "packages/server/test/*.test.ts",
  "packages/server/test/simulation",
];
const KILL_WHEN_LATE = fileURLToPath(new URL("kill-when-late.ts", import.meta.url));
const GOAL = 0.9;

type MutantResult = Awaited<ReturnType<Stryker["runMutationTest"]>>[number];

interface Score {
  file: string;
  noticed: number;
  all: number;
  survivors: string[];
}

process.chdir(ROOT);
// Changes are switched on by a variable, so the code is the same each time and need not be compiled again.
process.env.NODE_COMPILE_CACHE ??= join(ROOT, "node_modules/.cache/mutate/compiled");
const wanted = process.argv.slice(2).map((path) => relative(ROOT, join(ROOT, path)));
const isWanted = (file: string) => wanted.length === 0 || wanted.some((path) => file === path || file.startsWith(`${path}/`));
const isRule = (file: string) => !file.endsWith(".test.ts") && !NO_RULES.some((name) => file.endsWith(`/${name}`));
const tests = globSync("packages/{protocol,server}/src/**/*.test.ts").filter(isUnitTest);
const reached = new Map(tests.map((test) => [test, filesReachedFrom(test)]));

const scores: Score[] = [];
for (const file of RULES.flatMap((pattern) => globSync(pattern)).filter((name) => isRule(name) && isWanted(name))) {
  const score = await tryFile(file);
  scores.push(score);
  console.log(line(score));
  for (const survivor of score.survivors) console.log(`    ${survivor}`);
}
for (const [folder, group] of Map.groupBy(scores, ({ file }) => dirname(file))) {
  const sum = (pick: (score: Score) => number) => group.reduce((total, score) => total + pick(score), 0);
  console.log(line({ file: folder, noticed: sum(({ noticed }) => noticed), all: sum(({ all }) => all), survivors: [] }));
}
process.exitCode = scores.every(({ noticed, all }) => noticed >= GOAL * all) ? 0 : 1;

async function tryFile(file: string): Promise<Score> {
  const own = tests.filter((test) => reached.get(test)?.has(file));
  if (own.length === 0) return { file, noticed: 0, all: 1, survivors: ["no unit test reaches it"] };
  const results = await new Stryker({
    mutate: [file],
    ignorePatterns: LEFT_OUT,
    testRunner: "command",
    commandRunner: { command: `${process.execPath} --import ${KILL_WHEN_LATE} --test --test-isolation=none ${own.join(" ")}` },
    checkers: [],
    concurrency: 2,
    timeoutMS: 10_000,
    reporters: ["json"],
    jsonReporter: { fileName: "node_modules/.cache/mutate/report.json" },
    logLevel: "error" as never,
    tempDirName: ".stryker-tmp",
    disableTypeChecks: false,
    allowEmpty: true,
  }).runMutationTest();
  const counted = results.filter(({ status }) => !["Ignored", "CompileError", "RuntimeError"].includes(status));
  const survivors = counted.filter(({ status }) => status === "Survived" || status === "NoCoverage");
  return { file, noticed: counted.length - survivors.length, all: counted.length, survivors: survivors.map(describe) };
}

function describe({ location, mutatorName, replacement }: MutantResult): string {
  const { line: at, column } = location.start;
  return `${at}:${column} ${mutatorName}: ${(replacement ?? "").replaceAll(/\s+/g, " ").slice(0, 100)}`;
}

function line({ file, noticed, all }: Score): string {
  const share = all === 0 ? "  –" : `${Math.floor((100 * noticed) / all)} %`;
  return `${share.padStart(6)}  ${`${noticed}/${all}`.padStart(9)}  ${file}`;
}

/** One that starts nothing: no service, no store. */
function isUnitTest(test: string): boolean {
  return (
    /\/(protocol\/src|fan-out|deduplicate|execute\/steps|receive)\//.test(test) &&
    !/from "\.\.\/.*test\/support\/(?!sample-)/.test(readFileSync(test, "utf8"))
  );
}

function filesReachedFrom(start: string): ReadonlySet<string> {
  const found = new Set<string>();
  const left = [start];
  for (let file = left.pop(); file !== undefined; file = left.pop()) {
    if (found.has(file) || !existsSync(file)) continue;
    found.add(file);
    for (const [, isType, from = ""] of readFileSync(file, "utf8").matchAll(/^(?:import|export)( type)? [^"]*?"([^"]+)";/gms)) {
      if (isType) continue;
      // A package is found in node_modules, which is not changed: only tests of the package itself can notice.
      if (from.startsWith(".")) left.push(join(dirname(file), from));
    }
  }
  return found;
}

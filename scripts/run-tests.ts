/**
 * Runs all tests, or those of the files and folders that are named or match a pattern. In addition to `node --test`, it saves time:
 *
 * - Files share processes (see test-processes.ts).
 * - Test processes and their threads share a compile cache, in node_modules/.cache: a file that starts services needs less
 *   CPU time.
 * - node:test does not follow promises (see untracked-promises.ts).
 * - Processes that tests start run a bundle of the service instead of its sources (see bundle-program.ts).
 * - Tests that need PostgreSQL share one server, each with its own database. Chromium is unpacked once.
 * - All files are in memory where the machine offers that: tests wait for no disk.
 *
 * After the summary it lists the processes that used most CPU time, with their children. `--times` runs each file in a process of its own and
 * lists the time of every file.
 *
 *   node scripts/run-tests.ts [--fast] [--times] [pattern ...]
 */

import { once } from "node:events";
import { globSync, mkdirSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { run } from "node:test";
import { spec } from "node:test/reporters";
import { fileURLToPath, pathToFileURL } from "node:url";
import { parseArgs } from "node:util";
import { chromiumPath } from "../packages/dashboard/test/support/chromium.ts";
import { isPostgresInstalled, SHARED_POSTGRES, startPostgres } from "../packages/server/test/support/postgres-server.ts";
import { BUNDLED_PROGRAM } from "../packages/server/test/support/process.ts";
import { CPU_TIME_FOLDER, cpuSeconds, writtenCpuSeconds } from "./cpu-time.ts";
import { temporaryRoot } from "./temporary-root.ts";
import { separateProcesses, type TestProcess, testProcesses } from "./test-processes.ts";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const ALL = ["packages/**/*.test.ts", "scripts/**/*.test.ts", "bench/**/*.test.ts"];
/** With `--fast`: unit tests and the embedded engine; what needs PostgreSQL in these files is skipped. */
const FAST = /^packages\/\w+\/src\/(?!store\/.*postgres)/;
/** More than the cores of a small machine: some tests mostly wait. */
const CONCURRENCY = 5;
/** MB. A test process starts many services, whose objects live as long as a test: with room for them, less is copied by the garbage collector. */
const YOUNG_GENERATION_MB = 16;
/** Threads of the garbage collector that wait for each other take more time than they save where other processes use the cores. */
const GARBAGE_COLLECTION = "--single-threaded-gc";
/** A test that takes this long hangs. The longest takes two minutes on two idle cores. */
const TEST_TIMEOUT_MS = 600_000;
/** A process that stays on after its tests has left something open. Far longer than any needs on a busy machine. */
const PROCESS_TIMEOUT_MS = 3_600_000;
/** A run of fewer files starts fewer processes than a bundle is worth. */
const BUNDLE_FILES_MIN = 10;
const SHOWN = 15;
const PRELOADS = ["cpu-time.ts", "untracked-promises.ts"].map((file) => new URL(file, import.meta.url).href);

interface Finished {
  name: string;
  seconds: number;
  cpuSeconds: number;
}

const { values: options, positionals: wanted } = parseArgs({
  options: { fast: { type: "boolean" }, times: { type: "boolean" } },
  allowPositionals: true,
});
const found = globSync(wanted.length > 0 ? wanted.map(patternOf) : ALL, { cwd: ROOT, exclude: ["**/node_modules/**"] }).sort();
const files = options.fast ? found.filter((file) => FAST.test(file)) : found;
if (files.length === 0) throw new Error(`no test file matches ${wanted.join(" ")}`);
const chromium = files.some((file) => file.startsWith("packages/dashboard/test/")) ? await chromiumPath() : null;
const temporary = temporaryRoot();
process.env.TMPDIR = temporary;
const groups = join(temporary, "test-groups");
mkdirSync(groups);
const needsPostgres = !options.fast && isPostgresInstalled() && !process.env.TEST_DATABASE_URL;
const postgres = needsPostgres ? await startPostgres({ fsync: false }) : null;
const program = files.length >= BUNDLE_FILES_MIN && !options.fast ? await bundle() : null;
const env = {
  ...process.env,
  ...(chromium !== null && { CHROMIUM_PATH: chromium }),
  [CPU_TIME_FOLDER]: groups,
  ...(program !== null && { [BUNDLED_PROGRAM]: program }),
  NODE_COMPILE_CACHE: join(ROOT, "node_modules/.cache/inlet-tests"),
  ...(postgres && { [SHARED_POSTGRES]: postgres.url }),
  ...(options.fast && { TEST_STORE: "sqlite" }),
};

const finished = await runAll(options.times ? separateProcesses(files) : testProcesses(files));
const beforePostgres = cpuSeconds();
await postgres?.remove();
showTimes(finished, cpuSeconds() - beforePostgres);

function patternOf(name: string): string {
  const isFolder = statSync(join(ROOT, name), { throwIfNoEntry: false })?.isDirectory();
  return isFolder ? join(name, "**/*.test.ts") : name;
}

/** The bundler is loaded only by runs that need it. */
async function bundle(): Promise<string> {
  const { bundleProgram } = await import("./bundle-program.ts");
  return bundleProgram(join(ROOT, "node_modules/.cache/inlet-program"));
}

/** Node runs each process and sums up all of them. */
async function runAll(processes: readonly TestProcess[]): Promise<Finished[]> {
  const named = new Map(processes.map((one, index) => [groupFile(one, index), one.name]));
  const durations: [file: string, ms: number][] = [];
  const tests = run({
    files: [...named.keys()],
    cwd: ROOT,
    env,
    execArgv: [
      ...PRELOADS.flatMap((file) => ["--import", file]),
      `--test-timeout=${TEST_TIMEOUT_MS}`,
      `--min-semi-space-size=${YOUNG_GENERATION_MB}`,
      GARBAGE_COLLECTION,
    ],
    concurrency: CONCURRENCY,
    timeout: PROCESS_TIMEOUT_MS,
  });
  tests.on("test:fail", () => {
    process.exitCode = 1;
  });
  tests.on("test:summary", ({ file, duration_ms }) => {
    if (file) durations.push([file, duration_ms]);
  });
  const shown = tests.compose(spec);
  shown.pipe(process.stdout, { end: false });
  await once(shown, "end");
  return durations.map(([file, ms]) => ({ name: named.get(file) ?? file, seconds: ms / 1_000, cpuSeconds: writtenCpuSeconds(file) }));
}

/** A file that imports the files that share a process. */
function groupFile({ files: shared }: TestProcess, index: number): string {
  const file = join(groups, `group-${String(index).padStart(3, "0")}.test.mjs`);
  writeFileSync(file, shared.map((one) => `import ${JSON.stringify(pathToFileURL(join(ROOT, one)).href)};\n`).join(""));
  return file;
}

/** CPU time tells what a file costs on a busy machine, too. */
function showTimes(results: readonly Finished[], postgresSeconds: number): void {
  const sorted = results.toSorted((one, other) => other.cpuSeconds - one.cpuSeconds);
  console.log("\nCPU time, duration:");
  for (const { name, cpuSeconds: cpu, seconds } of options.times ? sorted : sorted.slice(0, SHOWN)) showTime(cpu, seconds, name);
  if (postgres) showTime(postgresSeconds, process.uptime(), "PostgreSQL");
  showTime(cpuSeconds(), process.uptime(), "all");
}

function showTime(cpu: number, seconds: number, what: string): void {
  console.log(`${cpu.toFixed(1).padStart(7)} s ${seconds.toFixed(1).padStart(7)} s  ${what}`);
}

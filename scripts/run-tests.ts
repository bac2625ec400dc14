/**
 * Runs all tests, or the files that are named or match a pattern. In addition to `node --test`, it saves time:
 *
 * - Test processes and their threads share a compile cache, in node_modules/.cache: a file that starts services needs less
 *   CPU time.
 * - Tests that need PostgreSQL share one server, each with its own database. Chromium is unpacked once.
 * - All files are in memory where the machine offers that: tests wait for no disk.
 * - The longest files start first, so that the end does not wait for one of them.
 * - Unit tests share two processes: most of them take less time than a process needs to start.
 *
 * At the end it lists the files that used most CPU time, with their children; `--times` lists all.
 *
 *   node scripts/run-tests.ts [--fast] [--times] [pattern ...]
 */

import { spawn } from "node:child_process";
import { once } from "node:events";
import { globSync, writeFileSync } from "node:fs";
import { basename, join, relative } from "node:path";
import { run } from "node:test";
import { spec } from "node:test/reporters";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { chromiumPath } from "../packages/dashboard/test/support/chromium.ts";
import { isPostgresInstalled, SHARED_POSTGRES, startPostgres } from "../packages/server/test/support/postgres-server.ts";
import { CPU_TIMES, cpuSeconds, readCpuTimes } from "./cpu-time.ts";
import { temporaryRoot } from "./temporary-root.ts";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const ALL = ["packages/**/*.test.ts", "scripts/**/*.test.ts", "bench/**/*.test.ts"];
/** One more than the cores of a small machine: some files mostly wait. */
const CONCURRENCY = 3;
const TIMEOUT_MS = 300_000;
/** Of pure rules and small parts. The engines' own tests are long, and remain files of their own. */
const UNIT = /^packages\/\w+\/src\/(?!store\/.*(sqlite|postgres))/;
/** With `--fast`: unit tests and the embedded engine. */
const FAST = /^packages\/\w+\/src\/(?!store\/.*postgres)/;
/** As many as a small machine has cores. */
const UNIT_PROCESSES = 2;
const FILES_SHOWN = 15;
const PRELOAD = ["--import", new URL("cpu-time.ts", import.meta.url).href];

/** Longest first. */
const LONG = [
  "accessibility.test.ts",
  "events-and-lists.test.ts",
  "runs-and-repair.test.ts",
  "postgres-runs.test.ts",
  "postgres-store.test.ts",
  "a-deadly-run-is-quarantined.test.ts",
  "runs-survive-crashes-at-each-point.test.ts",
  "simulation.test.ts",
  "webhooks-and-access.test.ts",
  "shared-store.test.ts",
  "apply-makes-the-server-match.test.ts",
  // They first install packages of other languages.
  "real-go-sdk-runs-unmodified.test.ts",
  "real-python-sdk-runs-unmodified.test.ts",
  "runs-survive-crashes.test.ts",
  "connections-may-break-anywhere.test.ts",
  "a-node-that-stands-still-holds-up-nobody.test.ts",
  "backups-are-complete.test.ts",
  "a-store-can-be-moved.test.ts",
  "listen-misses-nothing.test.ts",
  "resumed-runs-survive-a-crash.test.ts",
  "accepted-events-survive-a-crash.test.ts",
  "starting-and-stopping.test.ts",
  "guides-run-as-written.test.ts",
  "webhooks-become-events.test.ts",
  "nodes-may-be-killed.test.ts",
  "postgres-may-restart.test.ts",
  "sleeping-runs-wake-on-time.test.ts",
  "flow-control-is-honoured.test.ts",
  "sign-in-is-safe.test.ts",
  "sqlite-store.test.ts",
];

const { values: options, positionals: wanted } = parseArgs({
  options: { fast: { type: "boolean" }, times: { type: "boolean" } },
  allowPositionals: true,
});
const found = globSync(wanted.length > 0 ? wanted : ALL, { cwd: ROOT, exclude: ["**/node_modules/**"] }).sort(byLength);
const all = options.fast ? found.filter((file) => FAST.test(file)) : found;
const units = all.filter((file) => UNIT.test(file));
const files = all.filter((file) => !UNIT.test(file));
const chromium = files.some((file) => file.startsWith("packages/dashboard/")) ? await chromiumPath() : null;
process.env.TMPDIR = temporaryRoot();
const needsPostgres = !options.fast && isPostgresInstalled() && !process.env.TEST_DATABASE_URL;
const postgres = needsPostgres ? await startPostgres({ fsync: false }) : null;
const cpuTimes = join(process.env.TMPDIR, "cpu-times");
writeFileSync(cpuTimes, "");
const env = {
  ...process.env,
  [CPU_TIMES]: cpuTimes,
  ...(chromium !== null && { CHROMIUM_PATH: chromium }),
  NODE_COMPILE_CACHE: join(ROOT, "node_modules/.cache/inlet-tests"),
  ...(postgres && { [SHARED_POSTGRES]: postgres.url }),
};

const shares = Array.from({ length: UNIT_PROCESSES }, (_, share) => units.filter((_file, index) => index % UNIT_PROCESSES === share));
const seconds = new Map<string, number>();
const failed = await Promise.all([...shares.map(runInOneProcess), runEach(files)]);
const beforePostgres = cpuSeconds();
await postgres?.remove();
showTimes(cpuSeconds() - beforePostgres);
if (failed.includes(true)) process.exitCode = 1;

/** Shows the results when all are there. Returns whether a test failed. */
async function runInOneProcess(shared: readonly string[]): Promise<boolean> {
  if (shared.length === 0) return false;
  const args = [...PRELOAD, "--test", "--test-isolation=none", "--test-reporter=spec", `--test-timeout=${TIMEOUT_MS}`, ...shared];
  const child = spawn(process.execPath, args, { cwd: ROOT, env, stdio: ["ignore", "pipe", "inherit"] });
  const output: Buffer[] = [];
  child.stdout.on("data", (chunk: Buffer) => output.push(chunk));
  const [code] = await once(child, "close");
  process.stdout.write(Buffer.concat(output));
  return code !== 0;
}

/** Runs each file in a process of its own. Returns whether a test failed. */
async function runEach(separate: readonly string[]): Promise<boolean> {
  if (separate.length === 0) return false;
  let hasFailed = false;
  const tests = run({ files: [...separate], cwd: ROOT, env, concurrency: CONCURRENCY, timeout: TIMEOUT_MS, execArgv: PRELOAD });
  tests.on("test:fail", () => (hasFailed = true));
  tests.on("test:summary", ({ file, duration_ms }) => file && seconds.set(relative(ROOT, file), duration_ms / 1_000));
  const shown = tests.compose(spec);
  shown.pipe(process.stdout);
  await once(shown, "end");
  return hasFailed;
}

/** Per file the CPU time, which tells what it costs on a busy machine, too, and how long it took here. */
function showTimes(postgresSeconds: number): void {
  const used = readCpuTimes(cpuTimes).map((time) => ({ ...time, file: relative(ROOT, time.file) }));
  const sorted = [...used, { file: "PostgreSQL", seconds: postgresSeconds }].sort((one, other) => other.seconds - one.seconds);
  const listed = options.times ? sorted : sorted.slice(0, FILES_SHOWN);
  console.log("CPU time, duration:");
  for (const { file, seconds: cpu } of listed) console.log(`${inSeconds(cpu)} ${inSeconds(seconds.get(file))}  ${file}`);
  console.log(`${inSeconds(cpuSeconds())} ${inSeconds(process.uptime())}  all`);
}

function inSeconds(value: number | undefined): string {
  return (value === undefined ? "" : `${value.toFixed(1)} s`).padStart(9);
}

function byLength(one: string, other: string): number {
  return rank(one) - rank(other) || one.localeCompare(other);
}

function rank(file: string): number {
  const index = LONG.indexOf(basename(file));
  return index === -1 ? LONG.length : index;
}

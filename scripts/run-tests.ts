/**
 * Runs all tests, or the files that are named or match a pattern. In addition to `node --test`, it saves time:
 *
 * - Files share processes (see test-processes.ts).
 * - Test processes and their threads share a compile cache, in node_modules/.cache: a file that starts services needs less
 *   CPU time.
 * - Tests that need PostgreSQL share one server, each with its own database. Chromium is unpacked once.
 * - All files are in memory where the machine offers that: tests wait for no disk.
 *
 * At the end it prints the failures again, and the processes that used most CPU time, with their children. `--times` runs each file in a
 * process of its own and lists the time of every file.
 *
 *   node scripts/run-tests.ts [--fast] [--times] [pattern ...]
 */

import { spawn } from "node:child_process";
import { once } from "node:events";
import { globSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { chromiumPath } from "../packages/dashboard/test/support/chromium.ts";
import { isPostgresInstalled, SHARED_POSTGRES, startPostgres } from "../packages/server/test/support/postgres-server.ts";
import { CPU_TIME_FILE, cpuSeconds, writtenCpuSeconds } from "./cpu-time.ts";
import { temporaryRoot } from "./temporary-root.ts";
import { separateProcesses, type TestProcess, testProcesses } from "./test-processes.ts";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const ALL = ["packages/**/*.test.ts", "scripts/**/*.test.ts", "bench/**/*.test.ts"];
/** With `--fast`: unit tests and the embedded engine. */
const FAST = /^packages\/\w+\/src\/(?!store\/.*postgres)/;
/** More than the cores of a small machine: some tests mostly wait. */
const CONCURRENCY = 4;
const TEST_TIMEOUT_MS = 300_000;
/** A process that stays on after its tests has left something open. Far longer than any needs on a busy machine. */
const PROCESS_TIMEOUT_MS = 3_600_000;
const SHOWN = 15;
const PRELOAD = new URL("cpu-time.ts", import.meta.url).href;
const FAILURES = "✖ failing tests:";

interface Finished {
  name: string;
  isFailed: boolean;
  output: string;
  seconds: number;
  cpuSeconds: number;
}

const { values: options, positionals: wanted } = parseArgs({
  options: { fast: { type: "boolean" }, times: { type: "boolean" } },
  allowPositionals: true,
});
const found = globSync(wanted.length > 0 ? wanted : ALL, { cwd: ROOT, exclude: ["**/node_modules/**"] }).sort();
const files = options.fast ? found.filter((file) => FAST.test(file)) : found;
const chromium = files.some((file) => file.startsWith("packages/dashboard/test/")) ? await chromiumPath() : null;
const temporary = temporaryRoot();
process.env.TMPDIR = temporary;
const needsPostgres = !options.fast && isPostgresInstalled() && !process.env.TEST_DATABASE_URL;
const postgres = needsPostgres ? await startPostgres({ fsync: false }) : null;
const env = {
  ...process.env,
  ...(chromium !== null && { CHROMIUM_PATH: chromium }),
  NODE_COMPILE_CACHE: join(ROOT, "node_modules/.cache/inlet-tests"),
  ...(postgres && { [SHARED_POSTGRES]: postgres.url }),
};

const finished = await runAll(options.times ? separateProcesses(files) : testProcesses(files));
const beforePostgres = cpuSeconds();
await postgres?.remove();
showTimes(finished, cpuSeconds() - beforePostgres);
showFailures(finished.filter(({ isFailed }) => isFailed));

async function runAll(processes: readonly TestProcess[]): Promise<Finished[]> {
  const results: Finished[] = [];
  const waiting = processes.entries();
  async function work(): Promise<void> {
    for (const [index, tests] of waiting) {
      const result = await runProcess(tests, join(temporary, `cpu-time-${index}`));
      process.stdout.write(result.output);
      results.push(result);
    }
  }
  await Promise.all(Array.from({ length: CONCURRENCY }, work));
  return results;
}

async function runProcess(tests: TestProcess, cpuTimeFile: string): Promise<Finished> {
  const startedAt = performance.now();
  const args = ["--import", PRELOAD, "--test", "--test-isolation=none", "--test-reporter=spec", `--test-timeout=${TEST_TIMEOUT_MS}`];
  const child = spawn(process.execPath, [...args, ...tests.files], {
    cwd: ROOT,
    env: { ...env, [CPU_TIME_FILE]: cpuTimeFile },
    stdio: ["ignore", "pipe", "inherit"],
    timeout: PROCESS_TIMEOUT_MS,
    killSignal: "SIGKILL",
  });
  const chunks: Buffer[] = [];
  child.stdout.on("data", (chunk: Buffer) => chunks.push(chunk));
  const [code] = await once(child, "close");
  const seconds = (performance.now() - startedAt) / 1_000;
  const output = Buffer.concat(chunks).toString();
  return { name: tests.name, isFailed: code !== 0, output, seconds, cpuSeconds: writtenCpuSeconds(cpuTimeFile) };
}

/** CPU time tells what a file costs on a busy machine, too. */
function showTimes(results: readonly Finished[], postgresSeconds: number): void {
  const sorted = results.toSorted((one, other) => other.cpuSeconds - one.cpuSeconds);
  console.log("\nCPU time, duration:");
  for (const { name, cpuSeconds: cpu, seconds } of options.times ? sorted : sorted.slice(0, SHOWN)) showTime(cpu, seconds, name);
  if (postgres) showTime(postgresSeconds, process.uptime(), "PostgreSQL");
  showTime(cpuSeconds(), process.uptime(), `all: ${sumOf(results, "tests")} tests, ${sumOf(results, "skipped")} skipped`);
}

function showTime(cpu: number, seconds: number, what: string): void {
  console.log(`${cpu.toFixed(1).padStart(7)} s ${seconds.toFixed(1).padStart(7)} s  ${what}`);
}

/** Of what the reporter counts at the end of each process. */
function sumOf(results: readonly Finished[], counted: "tests" | "skipped"): number {
  return results.reduce((sum, { output }) => sum + Number(new RegExp(`^ℹ ${counted} (\\d+)$`, "m").exec(output)?.[1] ?? 0), 0);
}

function showFailures(results: readonly Finished[]): void {
  for (const { name, output } of results) {
    const start = output.lastIndexOf(FAILURES);
    console.log(`\n${name} failed\n${start === -1 ? output.slice(-2_000) : output.slice(start)}`);
  }
  if (results.length > 0) process.exitCode = 1;
  else console.log("all tests passed");
}

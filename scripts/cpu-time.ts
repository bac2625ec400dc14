/**
 * The CPU time of test processes, from Linux; elsewhere none. Preloaded into a test process, with the variable set, it writes down what
 * that process and its children used.
 */

import { appendFileSync, readFileSync } from "node:fs";
import { isMainThread } from "node:worker_threads";

/** The variable that names the file to write to: a line of JSON per process. */
export const CPU_TIMES = "INLET_TEST_CPU_TIMES";

export interface CpuTime {
  /** The script that the process runs. */
  file: string;
  seconds: number;
}

/** Linux counts in ticks, of which it shows programs 100 a second on every machine. */
const TICKS_PER_SECOND = 100;
/** In /proc/self/stat, behind the name: user and system time, then the same of all children that have ended. */
const FIRST_FIELD = 11;
const FIELDS = 4;

/** What this process used, and all of its children that have ended. */
export function cpuSeconds(): number {
  try {
    const stat = readFileSync("/proc/self/stat", "utf8");
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    const ticks = fields.slice(FIRST_FIELD, FIRST_FIELD + FIELDS).reduce((sum, field) => sum + Number(field), 0);
    return ticks / TICKS_PER_SECOND;
  } catch {
    return 0;
  }
}

export function readCpuTimes(path: string): CpuTime[] {
  const lines = readFileSync(path, "utf8").split("\n");
  return lines.filter((line) => line !== "").map((line) => JSON.parse(line));
}

const path = process.env[CPU_TIMES];
if (path && isMainThread) {
  // No child inherits it: a test may run other tests.
  delete process.env[CPU_TIMES];
  const file = process.argv[1] ?? "";
  process.once("exit", () => appendFileSync(path, `${JSON.stringify({ file, seconds: cpuSeconds() } satisfies CpuTime)}\n`));
}

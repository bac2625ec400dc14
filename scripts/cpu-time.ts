/**
 * The CPU time of a process and its children, from Linux; elsewhere 0. Preloaded into a test process, it writes the time to the file that
 * a variable names, when the process exits.
 */

import { readFileSync, writeFileSync } from "node:fs";
import { isMainThread } from "node:worker_threads";

/** The variable. */
export const CPU_TIME_FILE = "INLET_TEST_CPU_TIME_FILE";

/** Linux shows programs 100 ticks a second on every machine. */
const TICKS_PER_SECOND = 100;
/** In /proc/self/stat, after the name: user and system time, then the same of all children that have ended. */
const FIRST_FIELD = 11;
const FIELDS = 4;

/** Of this process, and of all its children that have ended. */
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

export function writtenCpuSeconds(file: string): number {
  try {
    return Number(readFileSync(file, "utf8"));
  } catch {
    return 0;
  }
}

const file = process.env[CPU_TIME_FILE];
if (file && isMainThread) {
  // No child inherits it: a test may run other tests.
  delete process.env[CPU_TIME_FILE];
  process.once("exit", () => writeFileSync(file, String(cpuSeconds())));
}

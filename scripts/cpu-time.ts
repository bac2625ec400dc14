/**
 * The CPU time of a process and its children, from Linux; elsewhere 0. Preloaded into a test process, it writes the time beside the file that
 * the process runs, when the process exits.
 */

import { readFileSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { isMainThread } from "node:worker_threads";

/** The variable that names the folder of the files that test processes run. */
export const CPU_TIME_FOLDER = "INLET_TEST_CPU_TIME_FOLDER";

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
    return Number(readFileSync(timeOf(file), "utf8"));
  } catch {
    return 0;
  }
}

function timeOf(file: string): string {
  return `${file}.cpu-seconds`;
}

const folder = process.env[CPU_TIME_FOLDER];
const [, program = ""] = process.argv;
if (folder && isMainThread && dirname(program) === folder) {
  process.once("exit", () => writeFileSync(timeOf(program), String(cpuSeconds())));
}

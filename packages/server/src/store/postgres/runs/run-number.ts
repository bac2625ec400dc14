/** Numbers of runs begin with the day they are given out on: their partitions are chosen by it. They stay below 2^53. */

import type { RunNo } from "@inlet/protocol";

export const DAY_MS = 86_400_000;
const NUMBERS_PER_DAY = 100_000_000_000;

/** The lowest number of a day, counted from 1970. */
export function firstRunNumber(day: number): number {
  return day * NUMBERS_PER_DAY;
}

export function dayAt(ms: number): number {
  return Math.floor(ms / DAY_MS);
}

/** `no` is the next of one sequence for all days, which comes round after more runs than a day can hold. */
export function runNumber(nowMs: number, no: number): RunNo {
  return (firstRunNumber(dayAt(nowMs)) + (no % NUMBERS_PER_DAY)) as RunNo;
}

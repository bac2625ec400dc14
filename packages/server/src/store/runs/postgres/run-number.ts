/** Run numbers begin with the day on which they are assigned, which selects their partition. They stay below 2^53. */

import { DAY_MS, type RunNo } from "@inlet/protocol";

const NUMBERS_PER_DAY = 100_000_000_000;

/** The lowest number of a day, counted from 1970. */
export function firstRunNumber(day: number): number {
  return day * NUMBERS_PER_DAY;
}

export function dayAt(ms: number): number {
  return Math.floor(ms / DAY_MS);
}

/** `no` is the next number of one sequence for all days, which wraps around after more runs than a day can have. */
export function runNumber(nowMs: number, no: number): RunNo {
  return (firstRunNumber(dayAt(nowMs)) + (no % NUMBERS_PER_DAY)) as RunNo;
}

/** Numbers of runs begin with the day they are given out on: that is how their partitions are told apart. They stay below 2^53. */

export const DAY_MS = 86_400_000;
const NUMBERS_PER_DAY = 100_000_000_000;

/** The lowest number of a day, counted from 1970. */
export function firstRunNumber(day: number): number {
  return day * NUMBERS_PER_DAY;
}

export function dayAt(ms: number): number {
  return Math.floor(ms / DAY_MS);
}

/** Where a block of numbers begins on a day. Blocks come again after ten million, which is more than a day can use. */
export function runBlockStart(day: number, block: number, size: number): number {
  return firstRunNumber(day) + (block % (NUMBERS_PER_DAY / size)) * size;
}

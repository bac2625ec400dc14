/**
 * The usual rhythm of a webhook, an event name or a function: how likely each part of each hour of the week is to see activity. A silence is
 * measured in the activity that was to be expected in it, so that nights and weekends without traffic count nothing, and is unusual if it is
 * clearly longer, measured so, than every silence of the last weeks. Activity that grows or shrinks from week to week is taken into account: a
 * silence is measured by what was usual in its own week.
 */

import { DAY_MS, HOUR_MS } from "@inlet/protocol";
import { type ActiveHour, PART_MS, PARTS_PER_HOUR } from "../store/contract/index.ts";

const HOURS_PER_WEEK = 168;
const WEEK_MS = HOURS_PER_WEEK * HOUR_MS;

export const RHYTHM_WEEKS = 8;
export const RHYTHM_MS = RHYTHM_WEEKS * WEEK_MS;
/** Less says nothing about what is usual. */
export const LEARNT_AFTER_MS = 14 * DAY_MS;
/** How much longer than the longest one a silence has to be. */
const FACTOR = 1.5;
/** Active parts that are to be expected in a silence before it is unusual, however regular the activity was. */
const EXPECTED_MIN = 3;

export interface ShownRhythm {
  /** The share of the parts of each hour that were active, for the 168 hours of a week in UTC, from Monday 00:00 on. */
  week: readonly number[];
  /** The longest time without activity. */
  longestGapMs: number;
  since: number;
}

export class Rhythm {
  /** By hour of the week: the share of its parts that were active, on average. */
  readonly #share: number[];
  /** By week, the latest first: how active it was, compared with the average. */
  readonly #weight: number[];
  readonly #until: number;
  readonly #since: number;
  /** Of all silences, what was to be expected in the one in which most was. */
  readonly #longest: number;
  readonly #longestGapMs: number;

  /** `hours` in order, of the weeks before `until`; an hour may come several times. */
  constructor(hours: readonly ActiveHour[], until: number) {
    const active = partsOf(hours).filter((at) => at < until);
    this.#until = until;
    this.#since = Math.max(active[0] ?? until, until - RHYTHM_MS);
    this.#weight = weightsOf(active, this.#weeks(), until);
    this.#share = sharesOf(active, this.#weeks());
    let [longest, longestGapMs] = [0, 0];
    for (let n = 1; n < active.length; n++) {
      const [from, to] = [active[n - 1] as number, active[n] as number];
      longest = Math.max(longest, this.expected(from + PART_MS, to));
      longestGapMs = Math.max(longestGapMs, to - from);
    }
    this.#longest = longest;
    this.#longestGapMs = longestGapMs;
  }

  /** Whether no silence like the one since `lastAt` was seen before. */
  isUnusual(lastAt: number, now: number): boolean {
    return this.expected(lastAt + PART_MS, now) > Math.max(this.#longest * FACTOR, EXPECTED_MIN);
  }

  /** How many active parts were to be expected between two times. */
  expected(from: number, to: number): number {
    let sum = 0;
    for (let at = from; at < to; ) {
      const end = Math.min(to, at - (at % HOUR_MS) + HOUR_MS);
      sum += ((end - at) / PART_MS) * (this.#share[hourOfWeek(at)] ?? 0) * this.#weightAt(at);
      at = end;
    }
    return sum;
  }

  shown(): ShownRhythm {
    const mondayFirst = this.#share.map((_, hour) => this.#share[hourOfWeek(MONDAY + hour * HOUR_MS)] ?? 0);
    return { week: mondayFirst, longestGapMs: this.#longestGapMs, since: this.#since };
  }

  #weeks(): number {
    return Math.max(1, (this.#until - this.#since) / WEEK_MS);
  }

  #weightAt(at: number): number {
    const week = Math.max(0, Math.floor((this.#until - at) / WEEK_MS));
    return this.#weight[Math.min(week, this.#weight.length - 1)] ?? 1;
  }
}

/** 5 January 1970. */
const MONDAY = 4 * DAY_MS;

function hourOfWeek(at: number): number {
  return Math.floor(at / HOUR_MS) % HOURS_PER_WEEK;
}

/** When each active part began, in order. */
function partsOf(hours: readonly ActiveHour[]): number[] {
  const merged = new Map<number, number>();
  for (const { at, parts } of hours) merged.set(at, (merged.get(at) ?? 0) | parts);
  const found: number[] = [];
  for (const [at, parts] of merged) {
    for (let part = 0; part < PARTS_PER_HOUR; part++) if (parts & (1 << part)) found.push(at + part * PART_MS);
  }
  return found.sort((one, other) => one - other);
}

function sharesOf(active: readonly number[], weeks: number): number[] {
  const counts = new Array<number>(HOURS_PER_WEEK).fill(0);
  for (const at of active) counts[hourOfWeek(at)] = (counts[hourOfWeek(at)] ?? 0) + 1;
  return counts.map((count) => count / (weeks * PARTS_PER_HOUR));
}

function weightsOf(active: readonly number[], weeks: number, until: number): number[] {
  const counts = new Array<number>(Math.ceil(weeks)).fill(0);
  for (const at of active) {
    const week = Math.min(counts.length - 1, Math.floor((until - at) / WEEK_MS));
    counts[week] = (counts[week] ?? 0) + 1;
  }
  const average = active.length / weeks;
  return counts.map((count) => (average === 0 ? 1 : count / average));
}

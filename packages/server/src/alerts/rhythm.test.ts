import assert from "node:assert/strict";
import { test } from "node:test";
import type { ActiveHour } from "../store/contract/index.ts";
import { PART_MS } from "../store/contract/index.ts";
import { RHYTHM_MS, Rhythm } from "./rhythm.ts";

const [MINUTE_MS, HOUR_MS, DAY_MS, WEEK_MS] = [60_000, 3_600_000, 86_400_000, 604_800_000];
/** A Monday, 00:00 UTC. */
const START = Date.UTC(2026, 0, 5);
const WATCHED_WEEKS = 12;
const END = START + RHYTHM_MS + WATCHED_WEEKS * WEEK_MS;

/** The same numbers for the same seed. */
function random(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1_664_525 + 1_013_904_223) % 2 ** 32;
    return state / 2 ** 32;
  };
}

/** Times at random, so many per hour on average at each time. */
function arrivals(next: () => number, perHour: (at: number) => number, max: number): number[] {
  const times: number[] = [];
  for (let at = START; at < END; ) {
    at += (-Math.log(1 - next()) / max) * HOUR_MS;
    if (next() < perHour(at) / max) times.push(at);
  }
  return times;
}

const weekday = (at: number) => Math.floor((at - START) / DAY_MS) % 7;
const hour = (at: number) => (at % DAY_MS) / HOUR_MS;
const isOffice = (at: number) => weekday(at) < 5 && hour(at) >= 8 && hour(at) < 18;

/** Each shape of traffic: its times, when it falls silent, and how soon that must be noticed: twice the longest gap at such a time. */
const SHAPES: Record<string, { times(next: () => number): number[]; silentAfterH: number; noticedWithinH: number }> = {
  steady: { times: (next) => arrivals(next, () => 6, 6), silentAfterH: 11, noticedWithinH: 4 },
  "office hours": { times: (next) => arrivals(next, (at) => (isOffice(at) ? 20 : 0), 20), silentAfterH: 11, noticedWithinH: 2 },
  "office hours, silent from the evening on": {
    times: (next) => arrivals(next, (at) => (isOffice(at) ? 20 : 0), 20),
    silentAfterH: 20,
    noticedWithinH: 12 + 2,
  },
  "nightly batch": {
    times: (next) => arrivals(next, (at) => (hour(at) >= 2 && hour(at) < 2.5 ? 200 : 0), 200),
    silentAfterH: 10,
    noticedWithinH: 24,
  },
  bursts: {
    times: (next) => arrivals(next, () => 0.5, 0.5).flatMap((at) => Array.from({ length: 20 }, (_, n) => at + n * 10_000)),
    silentAfterH: 11,
    noticedWithinH: 48,
  },
  growth: { times: (next) => arrivals(next, (at) => 2 * 10 ** ((at - START) / (END - START)), 20), silentAfterH: 11, noticedWithinH: 4 },
};

function hoursOf(times: readonly number[]): ActiveHour[] {
  const hours = new Map<number, ActiveHour>();
  for (const lastAt of times) {
    const at = lastAt - (lastAt % HOUR_MS);
    const known = hours.get(at) ?? { at, parts: 0, lastAt };
    hours.set(at, { at, parts: known.parts | (1 << Math.floor((lastAt - at) / PART_MS)), lastAt });
  }
  return [...hours.values()];
}

/** The rhythm as it is known at a time. */
function rhythmAt(hours: readonly ActiveHour[], now: number): Rhythm {
  return new Rhythm(
    hours.filter(({ at }) => at >= now - RHYTHM_MS && at < now),
    now,
  );
}

for (const [name, { times: timesOf, silentAfterH, noticedWithinH }] of Object.entries(SHAPES)) {
  test(`${name}: less than one false alarm a month`, () => {
    for (const seed of [1, 2, 3]) {
      const times = timesOf(random(seed));
      const hours = hoursOf(times);
      let alarms = 0;
      let [wasRaised, passed] = [false, 0];
      for (let day = START + RHYTHM_MS; day < END; day += DAY_MS) {
        const rhythm = rhythmAt(hours, day);
        for (let now = day; now < day + DAY_MS; now += 15 * MINUTE_MS) {
          while ((times[passed] ?? END) <= now) passed++;
          const isRaised = rhythm.isUnusual(times[passed - 1] as number, now);
          if (isRaised && !wasRaised) alarms++;
          wasRaised = isRaised;
        }
      }
      assert.ok(alarms < WATCHED_WEEKS / 4.35, `${alarms} false alarms in ${WATCHED_WEEKS} weeks with seed ${seed}`);
    }
  });

  test(`${name}: a silence is noticed`, () => {
    for (const seed of [1, 2, 3]) {
      // A Tuesday.
      const silentFrom = START + RHYTHM_MS + WEEK_MS + DAY_MS + silentAfterH * HOUR_MS;
      const times = timesOf(random(seed)).filter((at) => at < silentFrom);
      const hours = hoursOf(times);
      const last = times.at(-1) as number;
      let now = silentFrom;
      while (!rhythmAt(hours, now).isUnusual(last, now) && now < END) now += 10 * MINUTE_MS;
      const noticedH = (now - silentFrom) / HOUR_MS;
      assert.ok(noticedH <= noticedWithinH, `noticed after ${noticedH} hours with seed ${seed}`);
    }
  });
}

test("what is shown begins on Monday", () => {
  const monday = [START, START + WEEK_MS].map((at) => ({ at: at + 9 * HOUR_MS, parts: 0b111, lastAt: at }));
  const { week, longestGapMs } = new Rhythm(monday, START + 2 * WEEK_MS + 9 * HOUR_MS).shown();
  assert.equal(week.length, 168);
  assert.deepEqual([week.findIndex((share) => share > 0), week[9]], [9, 0.1]);
  assert.equal(longestGapMs, WEEK_MS - 2 * PART_MS);
});

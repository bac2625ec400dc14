import assert from "node:assert/strict";
import { test } from "node:test";
import { DAY_MS } from "@inlet/protocol";
import { type Rate, type RateUse, rateCheck, rateForgetAt, rateLimitRate, throttleAdmit } from "./gcra.ts";

const NOON = Date.UTC(2030, 5, 15, 12);
const HOUR_MS = 3_600_000;

/** Asks at each instant; the instants at which it was allowed. */
function allowedAt(rate: Rate, instants: number[]): number[] {
  let use: RateUse | null = null;
  return instants.filter((now) => {
    const outcome = rateCheck(use, now, rate);
    if (outcome.allowed) use = outcome.use;
    return outcome.allowed;
  });
}

/** After a start that is allowed. */
function used(use: RateUse | null, now: number, rate: Rate): RateUse {
  const outcome = rateCheck(use, now, rate);
  assert.ok(outcome.allowed, `at ${now}`);
  return outcome.use;
}

function everySecond(seconds: number): number[] {
  return Array.from({ length: seconds }, (_, i) => i * 1_000);
}

test("without burst one starts each period / limit", () => {
  const rate = { limit: 5, periodMs: 60_000, burst: 0 };
  assert.deepEqual(allowedAt(rate, everySecond(61)), [0, 12_000, 24_000, 36_000, 48_000, 60_000]);
});

test("burst + 1 start at once, then one each interval; a pause earns the burst again", () => {
  const rate = { limit: 10, periodMs: 10_000, burst: 2 };
  assert.deepEqual(allowedAt(rate, [0, 0, 0, 0, 999, 1_000, 1_000, 2_000]), [0, 0, 0, 1_000, 2_000]);
  assert.deepEqual(allowedAt(rate, [0, 0, 0, 0, 10_000, 10_000, 10_000, 10_000]), [0, 0, 0, 10_000, 10_000, 10_000]);
});

test("a refusal says when to come again", () => {
  const rate = { limit: 1, periodMs: 60_000, burst: 0 };
  const use = used(null, 1_000, rate);
  for (const now of [1_000, 30_000, 60_999]) assert.deepEqual(rateCheck(use, now, rate), { allowed: false, delayUntil: 61_000 });
  assert.deepEqual(rateCheck(use, 61_000, rate), { allowed: true, use: { at: 61_000, used: 1 } });
});

test("all of a burst start within the same millisecond, whatever the interval and the time of day", () => {
  for (const periodMs of [1_000, 60_000, HOUR_MS, DAY_MS]) {
    for (let limit = 1; limit <= 100; limit++) {
      for (const burst of [0, limit - 1, Math.floor(limit / 10)]) {
        const rate = { limit, periodMs, burst };
        const first = throttleAdmit(null, NOON + limit, rate, 1_000);
        assert.equal(first.count, burst + 1, JSON.stringify(rate));
        assert.equal(first.nextAt, NOON + limit + Math.ceil(periodMs / limit), JSON.stringify(rate));
        assert.equal(throttleAdmit(first.remember, NOON + limit + periodMs * 2, rate, 1_000).count, burst + 1, JSON.stringify(rate));
      }
    }
  }
});

test("coming again at the time told is allowed, also when intervals are not whole milliseconds", () => {
  const rate = { limit: 7, periodMs: 1_000, burst: 1 };
  let use: RateUse | null = null;
  let now = 5_000;
  for (let i = 0; i < 100; i++) {
    const early = rateCheck(use, now, rate);
    if (!early.allowed) now = early.delayUntil;
    use = used(use, now, rate);
  }
  // 100 starts, two of them at once: 98 intervals of 1000 / 7 ms.
  assert.ok(Math.abs(now - (5_000 + (98 * 1_000) / 7)) <= 1, `${now}`);
});

test("of those that wait a throttle admits what may start now, and says when the next may", () => {
  const rate = { limit: 2, periodMs: 1_000, burst: 1 };
  const first = throttleAdmit(null, 100, rate, 5);
  assert.deepEqual([first.count, first.nextAt], [2, 600]);
  assert.deepEqual(throttleAdmit(first.remember, 599, rate, 3).count, 0);
  const second = throttleAdmit(first.remember, 600, rate, 3);
  assert.deepEqual([second.count, second.nextAt], [1, 1_100]);
  assert.deepEqual(throttleAdmit(second.remember, 10_000, rate, 9).count, 2, "a pause earns the burst again, and no more");
  assert.deepEqual(throttleAdmit(null, 100, rate, 1).nextAt, 100, "another could start at once");
});

test("a clock that goes back lets nothing through too early", () => {
  const rate = { limit: 1, periodMs: 1_000, burst: 0 };
  assert.deepEqual(rateCheck(used(null, 10_000, rate), 5_000, rate), { allowed: false, delayUntil: 11_000 });
});

test("what a clock noted that was far ahead delays nothing until then", () => {
  const rate = { limit: 10, periodMs: 60_000, burst: 0 };
  const use = used(null, NOON + 365 * DAY_MS, rate);
  assert.deepEqual(rateCheck(use, NOON, rate), { allowed: true, use: { at: NOON, used: 1 } });
  assert.equal(throttleAdmit(JSON.stringify(use), NOON, rate, 5).count, 1);
});

test("a rate limit lets a tenth of it come at once", () => {
  assert.deepEqual(allowedAt(rateLimitRate({ limit: 5, periodMs: 60_000, burst: null }), [0, 0, 11_999, 12_000]), [0, 12_000]);
  assert.equal(allowedAt(rateLimitRate({ limit: 100, periodMs: 60_000, burst: null }), Array(50).fill(0)).length, 11);
  assert.equal(
    allowedAt(rateLimitRate({ limit: 10, periodMs: 60_000, burst: 9 }), Array(50).fill(0)).length,
    10,
    "unless it says how many",
  );
  // Idempotency: one in 24 hours.
  const day = 86_400_000;
  assert.deepEqual(allowedAt(rateLimitRate({ limit: 1, periodMs: day, burst: null }), [0, 1, day - 1, day]), [0, day]);
});

test("a key that is forgotten when it may be decides as one that is remembered", () => {
  const rate = { limit: 3, periodMs: 1_000, burst: 2 };
  const use = used(used(used(null, 0, rate), 0, rate), 0, rate);
  const forgetAt = rateForgetAt(use, rate);
  assert.deepEqual(rateCheck(use, forgetAt, rate), rateCheck(null, forgetAt, rate));
  assert.notDeepEqual(rateCheck(use, forgetAt - 1, rate), rateCheck(null, forgetAt - 1, rate));
});

test("a rate that was raised holds at once, and so does one that was lowered", () => {
  const hourly = { limit: 1, periodMs: HOUR_MS, burst: 0 };
  const many = { limit: 100, periodMs: 1_000, burst: 0 };
  const first = throttleAdmit(null, NOON, hourly, 1).remember;
  assert.equal(throttleAdmit(first, NOON + 9, many, 1).nextAt, NOON + 10);
  const second = throttleAdmit(first, NOON + 10, many, 1);
  assert.equal(second.count, 1, "the next one starts as soon as the new rate allows");
  const lowered = throttleAdmit(second.remember, NOON + 11, hourly, 1);
  assert.deepEqual([lowered.count, lowered.nextAt], [0, NOON + 10 + HOUR_MS]);
});

test("a burst that is larger now may start at once; one that is smaller delays the next by an interval and no more", () => {
  const single = { limit: 1, periodMs: HOUR_MS, burst: 0 };
  const ten = { ...single, burst: 9 };
  const burst = throttleAdmit(throttleAdmit(null, NOON, single, 1).remember, NOON + 1, ten, 20);
  assert.equal(burst.count, 9);
  assert.equal(throttleAdmit(burst.remember, NOON + 2, single, 1).nextAt, NOON + 1 + HOUR_MS);
});

test("what an earlier release remembered counts as it did", () => {
  const hourly = { limit: 1, periodMs: HOUR_MS, burst: 0 };
  assert.equal(throttleAdmit(`${NOON + 0.5}`, NOON, { ...hourly, burst: 9 }, 20).nextAt, NOON + 1);
  assert.equal(throttleAdmit(`${NOON + 1_000}`, NOON, hourly, 1).nextAt, NOON + 1_000);
  assert.equal(throttleAdmit(`${NOON + 1_000}`, NOON + 1_000, hourly, 1).count, 1);
});

test("whatever the rate, and however it is changed: never more than it allows, and the next no later", () => {
  const today = 200 * Math.floor(Date.now() / DAY_MS);
  for (let seed = today; seed < today + 200; seed++) playRates(random(seed), `seed ${seed}`);
});

/** The same numbers for the same seed: whole ones from 0 on, below `end`. */
function random(seed: number): (end: number) => number {
  let state = seed;
  return (end) => {
    state = (state * 1_664_525 + 1_013_904_223) % 2 ** 32;
    return Math.floor((state / 2 ** 32) * end);
  };
}

/** One key under one rate after the other. */
function playRates(next: ReturnType<typeof random>, name: string): void {
  let [now, last] = [NOON, Number.NEGATIVE_INFINITY];
  let remembered: string | null = null;
  for (let changes = 0; changes < 5; changes++) {
    const pick = (values: readonly number[]) => values[next(values.length)] as number;
    const rate = { limit: pick([1, 3, 7, 100]), periodMs: pick([1_000, 60_000, HOUR_MS]), burst: pick([0, 1, 9]) };
    const intervalMs = rate.periodMs / rate.limit;
    const starts: number[] = [];
    for (let asks = 0; asks < 30; asks++) {
      const { count, remember, nextAt } = throttleAdmit(remembered, now, rate, 1 + next(12));
      if (count > 0) [remembered, last] = [remember, now];
      assert.ok(nextAt <= Math.max(now, Math.ceil(last + intervalMs) + 1), `${name}: the next is late`);
      for (let n = 0; n < count; n++) starts.push(now);
      now += next(2) === 0 ? Math.max(0, nextAt - now) : next(2 * intervalMs);
    }
    assertWithin(rate, starts, name);
  }
}

/** In any time, as many as fit into it at the rate, one at its beginning and the burst. */
function assertWithin({ limit, periodMs, burst }: Rate, starts: readonly number[], name: string): void {
  for (const [from, first] of starts.entries()) {
    for (const [more, end] of starts.slice(from).entries()) {
      // A millisecond more, since intervals are rounded to whole ones.
      const allowed = burst + 1 + Math.floor(((end - first + 1) * limit) / periodMs);
      assert.ok(more + 1 <= allowed, `${name}: ${more + 1} within ${end - first} ms, where ${allowed} may`);
    }
  }
}

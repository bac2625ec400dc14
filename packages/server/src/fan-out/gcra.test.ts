import assert from "node:assert/strict";
import { test } from "node:test";
import { type Rate, rateCheck, rateForgetAt, rateLimitRate, throttleAdmit } from "./gcra.ts";

/** Asks at each instant; the instants at which it was allowed. */
function allowedAt(rate: Rate, instants: number[]): number[] {
  let tat: number | null = null;
  return instants.filter((now) => {
    const outcome = rateCheck({ tat }, now, rate);
    tat = outcome.tat;
    return outcome.allowed;
  });
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

test("a refusal uses nothing up and says when to come again", () => {
  const rate = { limit: 1, periodMs: 60_000, burst: 0 };
  const first = rateCheck({ tat: null }, 1_000, rate);
  assert.deepEqual(first, { allowed: true, tat: 61_000 });
  for (const now of [1_000, 30_000, 60_999])
    assert.deepEqual(rateCheck(first, now, rate), { allowed: false, tat: 61_000, delayUntil: 61_000 });
  assert.deepEqual(rateCheck(first, 61_000, rate), { allowed: true, tat: 121_000 });
});

test("coming again at the time told is allowed, also when intervals are not whole milliseconds", () => {
  const rate = { limit: 7, periodMs: 1_000, burst: 1 };
  let tat: number | null = null;
  let now = 5_000;
  for (let i = 0; i < 100; i++) {
    let outcome = rateCheck({ tat }, now, rate);
    if (!outcome.allowed) {
      now = outcome.delayUntil;
      outcome = rateCheck({ tat }, now, rate);
    }
    assert.equal(outcome.allowed, true, `start ${i} at ${now}`);
    tat = outcome.tat;
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
  const { tat } = rateCheck({ tat: null }, 10_000, rate);
  assert.deepEqual(rateCheck({ tat }, 5_000, rate), { allowed: false, tat: 11_000, delayUntil: 11_000 });
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
  let tat: number | null = null;
  for (let i = 0; i < 3; i++) tat = rateCheck({ tat }, 0, rate).tat;
  const forgetAt = rateForgetAt(tat as number);
  assert.deepEqual(rateCheck({ tat }, forgetAt, rate), rateCheck({ tat: null }, forgetAt, rate));
  assert.notDeepEqual(rateCheck({ tat }, forgetAt - 1, rate), rateCheck({ tat: null }, forgetAt - 1, rate));
});

/** The delays that hold when nothing sets another: other tests shorten them. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { createBackoff } from "./backoff.ts";

const NOW = 1_000_000;
const MINUTE_S = 60;
/** In seconds, by the attempt that failed. */
const DELAYS_S = [15, 30, MINUTE_S, 2 * MINUTE_S, 5 * MINUTE_S, 10 * MINUTE_S, 20 * MINUTE_S, 40 * MINUTE_S, 60 * MINUTE_S, 120 * MINUTE_S];
const JITTER_S = 30;

test("each attempt that fails is followed by the delay of the table, and after the table by its last one", () => {
  const backoff = createBackoff(null, () => 0);
  const delayS = (attempt: number) => (backoff.retryAt(NOW, attempt, null) - NOW) / 1_000;
  assert.deepEqual(
    DELAYS_S.map((_, attempt) => delayS(attempt)),
    DELAYS_S,
  );
  for (const attempt of [DELAYS_S.length, DELAYS_S.length + 1, 100]) assert.equal(delayS(attempt), 120 * MINUTE_S, `attempt ${attempt}`);
});

test("jitter adds whole milliseconds, from none to just under half a minute", () => {
  const added = (random: number, attempt = 0) =>
    createBackoff(null, () => random).retryAt(0, attempt, null) - (DELAYS_S[attempt] as number) * 1_000;
  assert.equal(added(0), 0);
  assert.equal(added(0.5), (JITTER_S * 1_000) / 2);
  assert.equal(added(1 - Number.EPSILON), JITTER_S * 1_000 - 1);
  assert.equal(added(0.123_456_7), 3_703);
  assert.equal(added(0.5, 9), (JITTER_S * 1_000) / 2, "as much for a long delay");
});

test("without a source of its own, jitter differs from call to call and keeps within its bounds", () => {
  const backoff = createBackoff(null);
  const times = Array.from({ length: 200 }, () => backoff.retryAt(0, 0, null));
  assert.ok(new Set(times).size > 100);
  for (const at of times) assert.ok(at >= 15_000 && at < 45_000, `${at}`);
});

test("what the app asked for wins, and then the interval that was set; neither has jitter", () => {
  const half = () => 0.5;
  assert.equal(createBackoff(null, half).retryAt(NOW, 3, 0), NOW);
  assert.equal(createBackoff(null, half).retryAt(NOW, 3, 7_000), NOW + 7_000);
  assert.equal(createBackoff(250, half).retryAt(NOW, 3, 7_000), NOW + 7_000);
  assert.equal(createBackoff(250, half).retryAt(NOW, 3, null), NOW + 250);
  assert.equal(createBackoff(0, half).retryAt(NOW, 3, null), NOW);
});

import assert from "node:assert/strict";
import { test } from "node:test";
import type { Stats } from "./stats.ts";
import { inBars, intervalFor } from "./stats-bars.ts";

const HOUR_MS = 3_600_000;

test("the interval stays within the limit of points", () => {
  assert.equal(intervalFor(0, 24 * HOUR_MS), "minute");
  assert.equal(intervalFor(0, 7 * 24 * HOUR_MS), "hour");
  assert.equal(intervalFor(0, 365 * 24 * HOUR_MS), "day");
});

test("bars sum their points", () => {
  const points = Array.from({ length: 1_440 }, (_, n) => ({
    at: new Date(n * 60_000).toISOString(),
    accepted: n,
    duplicates: 1,
    refused: 0,
    runsStarted: 2,
    runsCompleted: 0,
    runsFailed: 0,
  }));
  const stats: Stats = { interval: "minute", points, queue: { waiting: 0, oldestAgeMs: 0, history: [] } };
  const bars = inBars(stats).points;
  assert.equal(bars.length, 96);
  assert.equal(bars[0]?.at, points[0]?.at);
  assert.deepEqual(
    [bars.reduce((sum, bar) => sum + bar.accepted, 0), bars.reduce((sum, bar) => sum + bar.runsStarted, 0)],
    [(1_439 * 1_440) / 2, 2_880],
  );
});

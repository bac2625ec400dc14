import assert from "node:assert/strict";
import { test } from "node:test";
import type { RunTiming } from "../store/contract/index.ts";
import { functionFigures, percentiles } from "./function-figures.ts";

test("percentiles are values that occurred, by the nearest rank", () => {
  assert.equal(percentiles([]), null);
  assert.deepEqual(percentiles([7]), { p50: 7, p95: 7 });
  const hundred = Array.from({ length: 100 }, (_, n) => 100 - n);
  assert.deepEqual(percentiles(hundred), { p50: 50, p95: 95 });
});

test("runs count where they were created; intervals without runs are there too", () => {
  const run = (createdAt: number, status: RunTiming["status"], startedAt: number | null, endedAt: number | null): RunTiming => ({
    status,
    createdAt,
    startedAt,
    endedAt,
  });
  const runs = [run(1_000, "completed", 1_010, 1_510), run(1_999, "failed", 2_099, 2_199), run(3_500, "queued", null, null)];
  const [first, second, third] = functionFigures(runs, { from: 1_000, to: 4_000, intervalMs: 1_000 });
  assert.deepEqual(first, {
    at: 1_000,
    created: 2,
    completed: 1,
    failed: 1,
    cancelled: 0,
    durationMs: { p50: 100, p95: 500 },
    queueDelayMs: { p50: 10, p95: 100 },
  });
  assert.deepEqual([second?.created, second?.durationMs, second?.queueDelayMs], [0, null, null]);
  assert.deepEqual([third?.created, third?.durationMs, third?.queueDelayMs], [1, null, null]);
});

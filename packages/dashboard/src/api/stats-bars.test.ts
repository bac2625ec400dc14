import assert from "node:assert/strict";
import { test } from "node:test";
import { intervalFor } from "./stats-bars.ts";

const HOUR_MS = 3_600_000;

test("the interval stays within the limit of points", () => {
  assert.equal(intervalFor(0, 24 * HOUR_MS), "minute");
  assert.equal(intervalFor(0, 7 * 24 * HOUR_MS), "hour");
  assert.equal(intervalFor(0, 365 * 24 * HOUR_MS), "day");
});

import assert from "node:assert/strict";
import { test } from "node:test";
import { forecastDay, forecastStored } from "./usage-forecast.ts";

const HOUR_MS = 3_600_000;
const MIDNIGHT = Date.UTC(2030, 0, 10);
const day = (ago: number, eventsAccepted: number) => ({
  at: new Date(MIDNIGHT - ago * 24 * HOUR_MS).toISOString(),
  eventsAccepted,
  bytes: eventsAccepted * 10,
});

test("a daily quota is reached today at the rate of today, or not at all", () => {
  const days = [day(2, 100), day(1, 300), day(0, 60)];
  const noon = MIDNIGHT + 12 * HOUR_MS;
  assert.deepEqual(forecastDay(days, "eventsAccepted", 90, noon), { perDay: 200, reachedAt: MIDNIGHT + 18 * HOUR_MS });
  assert.deepEqual(forecastDay(days, "eventsAccepted", 1_000, noon), { perDay: 200, reachedAt: null });
  assert.deepEqual(forecastDay(days, "eventsAccepted", 60, noon), { perDay: 200, reachedAt: noon });
  assert.deepEqual(forecastDay([], "bytes", 10, noon), { perDay: null, reachedAt: null });
});

test("shortly after midnight the last days tell the rate; stored bytes grow by what is accepted", () => {
  const days = [day(1, 240)];
  assert.equal(forecastDay(days, "eventsAccepted", 120, MIDNIGHT).reachedAt, MIDNIGHT + 12 * HOUR_MS);
  assert.equal(forecastStored(days, 1_200, 2_400, MIDNIGHT).reachedAt, MIDNIGHT + 12 * HOUR_MS);
  assert.equal(forecastStored(days, 0, null, MIDNIGHT).reachedAt, null);
});

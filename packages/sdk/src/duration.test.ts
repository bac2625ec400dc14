import assert from "node:assert/strict";
import test from "node:test";
import { durationMs, durationText, instantText } from "./duration.ts";

test("durations are milliseconds or texts", () => {
  const cases: [number | string, number, string][] = [
    [0, 0, "0s"],
    [1, 1, "1ms"],
    [1_500, 1_500, "1s500ms"],
    [0.2, 1, "1ms"],
    ["30s", 30_000, "30s"],
    ["1h30m", 5_400_000, "1h30m"],
    ["90m", 5_400_000, "1h30m"],
    ["1.5 hours", 5_400_000, "1h30m"],
    ["2 days 4h", 187_200_000, "2d4h"],
    ["1w", 604_800_000, "1w"],
    [" 10 MIN ", 600_000, "10m"],
  ];
  for (const [duration, ms, text] of cases) {
    assert.equal(durationMs(duration), ms, String(duration));
    assert.equal(durationText(duration), text, String(duration));
  }
});

test("what is no duration is refused by name", () => {
  for (const bad of ["", "soon", "10", "1h and", "5 parsecs", "-1s", -1, Number.NaN, Number.POSITIVE_INFINITY]) {
    assert.throws(() => durationMs(bad), RangeError, String(bad));
  }
  assert.throws(() => durationMs("soon"), /Not a duration: "soon"/);
});

test("instants are dates, ISO 8601 or milliseconds", () => {
  const iso = "2030-01-02T03:04:05.000Z";
  for (const instant of [new Date(iso), iso, Date.parse(iso), "2030-01-02T05:04:05+02:00"]) assert.equal(instantText(instant), iso);
  assert.throws(() => instantText("tomorrow"), /Not a point in time: "tomorrow"/);
});

import assert from "node:assert/strict";
import test from "node:test";
import { retryAfterMs } from "./send-events.ts";

test("Retry-After is seconds or a date, and nothing when unreadable", () => {
  const now = Date.parse("2030-01-01T00:00:00Z");
  const cases: [string | null, number | undefined][] = [
    ["2", 2_000],
    ["0", 0],
    ["0.5", 500],
    ["3600", 3_600_000],
    ["Tue, 01 Jan 2030 00:00:05 GMT", 5_000],
    ["Mon, 31 Dec 2029 00:00:00 GMT", 0],
    ["soon", undefined],
    ["", undefined],
    [null, undefined],
  ];
  for (const [header, ms] of cases) assert.equal(retryAfterMs(header, now), ms, String(header));
});

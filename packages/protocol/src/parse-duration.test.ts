import assert from "node:assert/strict";
import { test } from "node:test";
import { parseDuration } from "./parse-duration.ts";

test("a length of time is read as Go, the SDKs and people write it", () => {
  const cases: [string, number][] = [
    ["0", 0],
    ["0s", 0],
    ["100ms", 100],
    ["1.5s", 1_500],
    [".5s", 500],
    [".25s", 250],
    [`${"0".repeat(98)}1s`, 1_000],
    ["1.s", 1_000],
    ["10s", 10_000],
    ["5m", 300_000],
    ["1h30m", 5_400_000],
    ["1h0m0s", 3_600_000],
    ["24h", 86_400_000],
    ["1d", 86_400_000],
    ["1w2d3h4m5s", 604_800_000 + 2 * 86_400_000 + 3 * 3_600_000 + 4 * 60_000 + 5_000],
    ["1500us", 2],
    ["2000000ns", 2],
    ["1000\u00b5s", 1],
    ["1000\u03bcs", 1],
    ["0.1s", 100],
  ];
  for (const [text, ms] of cases) assert.equal(parseDuration(text), ms, text);
});

test("anything else is not a length of time", () => {
  for (const text of [
    "",
    "1",
    "s",
    "-1s",
    "+1s",
    "1 s",
    "1S",
    "1y",
    "1h-5m",
    "1e3s",
    "1h 30m",
    "tomorrow",
    "1.5.5s",
    "9".repeat(99),
    `${"0".repeat(99)}1s`,
    `${"9".repeat(30)}w`,
  ])
    assert.equal(parseDuration(text), null, text);
});

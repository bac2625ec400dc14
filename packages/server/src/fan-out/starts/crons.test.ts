import assert from "node:assert/strict";
import { test } from "node:test";
import { cronFault, nextTick, tickAt } from "./crons.ts";

const at = (text: string) => Date.parse(text);
const iso = (ms: number | null) => (ms === null ? null : new Date(ms).toISOString());

test("a schedule is read in UTC, or in the time zone it names", () => {
  const now = at("2026-03-28T10:30:00Z");
  assert.equal(iso(nextTick("0 12 * * *", now)), "2026-03-28T12:00:00.000Z");
  assert.equal(iso(nextTick("TZ=Europe/Berlin 0 12 * * *", now)), "2026-03-28T11:00:00.000Z");
  assert.equal(iso(nextTick("CRON_TZ=Europe/Berlin 0 12 * * *", at("2026-03-29T00:00:00Z"))), "2026-03-29T10:00:00.000Z");
  assert.equal(iso(nextTick("@hourly", now)), "2026-03-28T11:00:00.000Z");
});

test("a schedule of every day goes by the clocks of its zone when these are changed", () => {
  const berlin = "TZ=Europe/Berlin 30 2 * * *";
  assert.equal(iso(nextTick(berlin, at("2026-03-27T12:00:00Z"))), "2026-03-28T01:30:00.000Z", "winter");
  assert.equal(iso(nextTick(berlin, at("2026-03-29T12:00:00Z"))), "2026-03-30T00:30:00.000Z", "summer");
  assert.equal(iso(tickAt(berlin, at("2026-03-30T12:00:00Z"))), "2026-03-30T00:30:00.000Z");
  assert.equal(iso(tickAt("0 0 1 * *", at("2026-03-01T00:00:00Z"))), "2026-03-01T00:00:00.000Z", "the first of the month is that of UTC");
});

test("a tick is never its own successor", () => {
  assert.equal(iso(nextTick("* * * * *", at("2026-01-01T00:01:00.000Z"))), "2026-01-01T00:02:00.000Z");
  assert.equal(iso(nextTick("* * * * *", at("2026-01-01T00:01:00.001Z"))), "2026-01-01T00:02:00.000Z");
});

test("the tick that is due is the same however late it is asked for", () => {
  for (const late of ["00:05:00.000", "00:05:00.004", "00:05:59.000", "00:09:59.999"])
    assert.equal(iso(tickAt("*/5 * * * *", at(`2026-01-01T${late}Z`))), "2026-01-01T00:05:00.000Z", late);
});

test("what is no schedule is said to be none", () => {
  assert.equal(cronFault("*/5 * * * 1-5"), null);
  assert.match(cronFault("61 * * * *") ?? "", /61/);
  assert.notEqual(cronFault("every minute"), null);
  assert.equal(nextTick("every minute", 0), null);
});

test("a schedule that is never due has no next tick, and what is none is due when it is asked for", () => {
  const never = "0 0 30 2 *";
  assert.equal(nextTick(never, 5_000), null);
  assert.equal(tickAt(never, 5_000), 5_000);
  assert.equal(tickAt("every minute", 5_000), 5_000);
});

test("a fault is told without the name of the library, and spaces around a schedule are none", () => {
  assert.match(cronFault("61 * * * *") ?? "", /^Invalid value for minute: 61/);
  assert.equal(cronFault("  TZ=Europe/Berlin   0 12 * * * \n"), null);
  assert.equal(iso(nextTick(" TZ=Europe/Berlin  0 12 * * * ", at("2026-03-28T10:30:00Z"))), "2026-03-28T11:00:00.000Z");
  assert.notEqual(cronFault("xTZ=Europe/Berlin 0 12 * * *"), null);
});

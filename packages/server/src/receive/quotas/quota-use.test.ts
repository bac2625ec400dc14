import assert from "node:assert/strict";
import { test } from "node:test";
import { DAY_MS } from "@inlet/protocol";
import { QuotaUse } from "./quota-use.ts";

const NOON = Date.UTC(2030, 5, 15, 12);
const NONE = { eventsPerSecond: null, eventsPerDay: null, bytesPerDay: null, callsAtOnce: null, storedBytes: null };
const quotas = { ...NONE, eventsPerDay: 100 };

function useOf(events: number, at: number): QuotaUse {
  const use = new QuotaUse();
  use.reserve(at, { events, bytes: 0 });
  return use;
}

test("a request of yesterday that comes after one of today counts today", () => {
  const use = useOf(60, NOON);
  use.reserve(NOON - DAY_MS, { events: 30, bytes: 0 });
  assert.equal(use.ofDay(NOON).events, 90);
});

test("a clock that was ahead does not keep the quota of its day in force", () => {
  const use = useOf(60, NOON + 365 * DAY_MS);
  assert.ok(use.hasRoom(quotas, NOON, { events: 60, bytes: 0 }));
  use.reserve(NOON, { events: 60, bytes: 0 });
  assert.deepEqual(
    use.exceeded(quotas, NOON, { events: 60, bytes: 0 }).map(({ resetsAt }) => resetsAt),
    [Date.UTC(2030, 5, 16)],
  );
});

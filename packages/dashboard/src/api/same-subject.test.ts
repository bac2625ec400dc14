import assert from "node:assert/strict";
import { test } from "node:test";
import { type FailureFilter, failuresQuery } from "./failures.ts";
import { functionStatsQuery } from "./function-stats.ts";
import { statsQuery, webhookStatsQuery } from "./queries.ts";

const HOUR_MS = 3_600_000;
const DATA = {};

interface Shown {
  queryKey: readonly unknown[];
  placeholderData?: unknown;
}

/** Whether the data of the query before is shown while this one loads. */
function isKept(before: Shown, { placeholderData }: Shown): boolean {
  const keep = placeholderData as (data: object, before: Shown) => object | undefined;
  return keep(DATA, before) === DATA;
}

test("figures of another time range are shown while those of the new one load, those of another environment or object never", () => {
  const range = [0, HOUR_MS] as const;
  const later = [HOUR_MS, 2 * HOUR_MS] as const;
  const stats = statsQuery("production", ...range);
  assert.equal(isKept(stats, statsQuery("production", ...later)), true);
  assert.equal(isKept(stats, statsQuery("staging", ...range)), false);

  const webhook = webhookStatsQuery("wh_1", ...range);
  assert.equal(isKept(webhook, webhookStatsQuery("wh_1", ...later)), true);
  assert.equal(isKept(webhook, webhookStatsQuery("wh_2", ...range)), false);

  const ofFunction = functionStatsQuery("production", "charge", ...range);
  assert.equal(isKept(ofFunction, functionStatsQuery("production", "charge", ...later)), true);
  assert.equal(isKept(ofFunction, functionStatsQuery("production", "refund", ...range)), false);
  assert.equal(isKept(ofFunction, functionStatsQuery("staging", "charge", ...range)), false);
});

test("failures are kept within one environment, state, function and text", () => {
  const filter: FailureFilter = { from: 0, state: "open", function: "charge", q: undefined };
  const failures = failuresQuery("production", filter);
  assert.equal(isKept(failures, failuresQuery("production", { ...filter, from: HOUR_MS })), true);
  assert.equal(isKept(failures, failuresQuery("staging", filter)), false);
  for (const other of [{ state: "ignored" }, { function: "refund" }, { function: undefined }, { q: "declined" }] as const)
    assert.equal(isKept(failures, failuresQuery("production", { ...filter, ...other })), false);
});

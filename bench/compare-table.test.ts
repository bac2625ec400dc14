import assert from "node:assert/strict";
import { test } from "node:test";
import { type Compared, comparedTable } from "./compare-table.ts";

function lastLine(row: Partial<Compared>): string[] {
  const line = comparedTable([{ what: "events", unit: "events/s", rounds: { old: [], new: [], bare: [] }, ...row }]).split("\n")[2] ?? "";
  return line.split("|").map((cell) => cell.trim());
}

test("the ratio is the median of the rounds' ratios", () => {
  // In the second round the machine was half as fast.
  const rounds = { old: [100, 50, 100], new: [80, 40, 80], bare: [] };
  assert.deepEqual(lastLine({ rounds }).slice(3, 6), ["100", "80.00", "0.80"]);
});

test("a floor is compared with the new figure, or by its share of the bare counterpart in the same round", () => {
  const rounds = { old: [400], new: [300], bare: [1_000] };
  assert.equal(lastLine({ rounds, floor: { shareMin: 0.4, of: "a bare server" } })[7], "0.30 MISSED");
  assert.equal(lastLine({ rounds, floor: { min: 300 } })[7], "300 reached");
  assert.equal(lastLine({ rounds, floor: { max: 200 } })[7], "300 MISSED");
});

test("what could not be measured is unknown, and no floor is reached by it", () => {
  assert.deepEqual(lastLine({ floor: { max: 130 } }).slice(3, 8), ["unknown", "unknown", "unknown", "≤ 130", "unknown"]);
});

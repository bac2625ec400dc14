import assert from "node:assert/strict";
import { test } from "node:test";
import { BodyBudget, type BodyShare } from "./body-budget.ts";

const KIB = 1_024;

function entered(budget: BodyBudget, databaseNo: number, bytes: number): BodyShare | null {
  const share = budget.enter();
  if (share?.isFor(databaseNo) && share.take(bytes)) return share;
  share?.release();
  return null;
}

test("requests for one database of several hold half of the budget, and leave the rest to others", () => {
  const budget = new BodyBudget(100 * KIB, () => true);
  const held = [entered(budget, 1, 20 * KIB), entered(budget, 1, 20 * KIB)];
  assert.ok(held.every(Boolean));
  assert.equal(entered(budget, 1, 20 * KIB), null, "more than half");
  assert.ok(entered(budget, 0, 40 * KIB), "another database has room");
  held[0]?.release();
  assert.ok(entered(budget, 1, 20 * KIB), "what was released can be used again");
});

test("very many tiny requests for one database are bounded too", () => {
  const budget = new BodyBudget(100 * KIB, () => true);
  let waiting = 0;
  while (entered(budget, 1, 0)) waiting++;
  assert.equal(waiting, 50);
  assert.ok(entered(budget, 2, 0));
});

test("the requests for one database alone may hold everything, and one that is alone is accepted however large", () => {
  const budget = new BodyBudget(100 * KIB);
  assert.ok(entered(budget, 0, 60 * KIB));
  assert.ok(entered(budget, 0, 30 * KIB));
  assert.equal(entered(budget, 0, 20 * KIB), null);
  assert.ok(entered(new BodyBudget(KIB, () => true), 1, 10 * KIB));
});

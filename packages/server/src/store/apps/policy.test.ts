import assert from "node:assert/strict";
import { test } from "node:test";
import type { EntryNo, FunctionNo } from "@inlet/protocol";
import { isSameRegistration, planSchedules } from "./policy.ts";

const entry = (entryNo: number, functionNo: number, cron: string) => ({
  entryNo: entryNo as EntryNo,
  functionNo: functionNo as FunctionNo,
  cron,
});
const registered = (functionNo: number, ...crons: string[]) => ({
  functionNo: functionNo as FunctionNo,
  crons: crons.map((cron) => ({ cron, dueAt: 5 })),
});

test("a schedule that still exists keeps its entry", () => {
  const { added, removed } = planSchedules([entry(1, 7, "hourly"), entry(2, 7, "daily")], [registered(7, "hourly", "weekly")]);
  assert.deepEqual(added, [{ functionNo: 7, cron: "weekly", dueAt: 5 }]);
  assert.deepEqual(removed, [2]);
});

test("the same schedule of another function is another one", () => {
  const { added, removed } = planSchedules([entry(1, 7, "hourly")], [registered(8, "hourly")]);
  assert.deepEqual(added, [{ functionNo: 8, cron: "hourly", dueAt: 5 }]);
  assert.deepEqual(removed, [1]);
});

test("only the same checksum of an app that was not removed changes nothing", () => {
  assert.equal(isSameRegistration(null, "a"), false);
  assert.equal(isSameRegistration({ checksum: "a", removedAt: null }, "a"), true);
  assert.equal(isSameRegistration({ checksum: "b", removedAt: null }, "a"), false);
  assert.equal(isSameRegistration({ checksum: "a", removedAt: 1 }, "a"), false);
});

import assert from "node:assert/strict";
import { test } from "node:test";
import { EVENT_NAME_UNITS_MAX, eventNameFault } from "@inlet/protocol";
import { type Candidate, firingTrigger, TriggerIndex, triggerNameFault } from "./triggers.ts";

function events(candidates: readonly Candidate[]): [number, string[]][] {
  return candidates.map(({ functionNo, triggers }) => [functionNo, triggers.map(({ event }) => event)]);
}

const INDEX = new TriggerIndex([
  { functionNo: 1, triggers: [{ event: "app/user.created" }] },
  { functionNo: 2, triggers: [{ event: "app/*" }, { event: "app/user.*" }, { event: "app/user.created" }] },
  { functionNo: 3, triggers: [{ event: "app/user.*" }, { cron: "* * * * *" }] },
  { functionNo: 4, triggers: [{ event: "*" }] },
  { functionNo: 5, triggers: [{ event: "inngest/function.failed" }] },
  { functionNo: 6, triggers: [{ cron: "0 * * * *" }] },
  { functionNo: 7, triggers: [] },
]);

test("functions are found by exact name and by pattern, each once with all its fitting triggers", () => {
  assert.deepEqual(events(INDEX.match("app/user.created")), [
    [1, ["app/user.created"]],
    [2, ["app/user.created", "app/*", "app/user.*"]],
    [4, ["*"]],
    [3, ["app/user.*"]],
  ]);
  assert.deepEqual(events(INDEX.match("app/order.created")), [
    [4, ["*"]],
    [2, ["app/*"]],
  ]);
  assert.deepEqual(events(INDEX.match("app/user")), [
    [4, ["*"]],
    [2, ["app/*"]],
  ]);
  assert.deepEqual(events(INDEX.match("App/user.created")), [[4, ["*"]]]);
  assert.deepEqual(events(INDEX.match("cron")), [[4, ["*"]]]);
});

test("the service's own events reach only who names them", () => {
  assert.deepEqual(events(INDEX.match("inngest/function.failed")), [[5, ["inngest/function.failed"]]]);
  assert.deepEqual(events(INDEX.match("inngest/function.finished")), []);
  const wanted = new TriggerIndex([{ functionNo: 1, triggers: [{ event: "inngest/*" }] }]);
  assert.deepEqual(events(wanted.match("inngest/function.finished")), [[1, ["inngest/*"]]]);
});

test("a name nobody subscribes to finds nothing", () => {
  const index = new TriggerIndex([{ functionNo: 1, triggers: [{ event: "app/*" }, { event: "a.b.*" }, { event: "x" }] }]);
  for (const name of ["application/x", "ap", "b/app/x", "a.bc", "a.b", "__proto__", ""]) assert.deepEqual(index.match(name), [], name);
});

test("a function starts if the condition of any of its triggers holds", () => {
  const index = new TriggerIndex([
    {
      functionNo: 1,
      triggers: [
        { event: "a/b", expression: "event.data.n > 10" },
        { event: "a/*", expression: "event.data.m == 1" },
      ],
    },
    { functionNo: 2, triggers: [{ event: "a/b", expression: "event.data." }] },
    { functionNo: 3, triggers: [{ event: "a/b", expression: "event.data.x" }, { event: "a/b" }] },
  ]);
  const [first, broken, last] = index.match("a/b") as [Candidate, Candidate, Candidate];
  const firing = (candidate: Candidate, data: object) => {
    const { trigger, faults } = firingTrigger(candidate, { name: "a/b", data });
    return [trigger?.event ?? null, faults];
  };
  assert.deepEqual(firing(first, { n: 11 }), ["a/b", []]);
  assert.deepEqual(firing(first, { m: 1 }), ["a/*", ["event.data has no field n"]]);
  assert.deepEqual(firing(first, { n: 1, m: 2 }), [null, []]);
  assert.deepEqual(firing(broken, {}), [null, ["Expected name, got end of the expression at character 12"]]);
  assert.deepEqual(firing(last, {}), ["a/b", ["event.data has no field x"]]);
});

test("the time to find a name's functions does not grow with the functions", () => {
  const functions = Array.from({ length: 20_000 }, (_, i) => ({
    functionNo: i,
    triggers: [{ event: `app${i}/made` }, { event: `app${i}/sub.*` }],
  }));
  const index = new TriggerIndex(functions);
  const before = process.cpuUsage();
  for (let i = 0; i < 100_000; i++) assert.equal(index.match(`app${i % 40_000}/sub.x`).length, i % 40_000 < 20_000 ? 1 : 0);
  // Looking at every function would take minutes.
  assert.ok(process.cpuUsage(before).user < 5_000_000);
});

test("the longest name that an event may have can start functions", () => {
  const longest = "x".repeat(EVENT_NAME_UNITS_MAX);
  assert.deepEqual([eventNameFault(longest), triggerNameFault(longest)], [null, null]);
});

test("a trigger's name is checked", () => {
  for (const name of ["a", "app/*", "app/user.*", "*", "a b", "é/*", "x".repeat(256)]) assert.equal(triggerNameFault(name), null, name);
  for (const name of ["app*", "app/*/x", "*/x", "a/**", "app/*.*", "**", "a-*"])
    assert.equal(triggerNameFault(name), "may have a * only at its end, after / or . (or be just *)", name);
  assert.equal(triggerNameFault(""), "must not be empty");
  assert.equal(triggerNameFault("x".repeat(257)), "is longer than 256 characters");
});

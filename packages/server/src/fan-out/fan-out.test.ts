import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { createEventIdGenerator, type EnvironmentId, type EventId } from "@inlet/protocol";
import { sampleFunction, sampleRegistry } from "../../test/support/sample-registry.ts";
import type { NewEvent } from "../store/contract/index.ts";
import { FanOut, hasStartRules, once } from "./fan-out.ts";
import { eventValue } from "./waits.ts";

const NOW = 1_700_000_000_000;
const DAY_MS = 86_400_000;
const keyHash = (key: string) => `#${key}`;

function eventOf(changes: Partial<NewEvent> = {}): NewEvent {
  return { id: "01E" as EventId, name: "x/y", ts: NOW, dedupId: null, data: '{"n":5}', extras: null, ...changes };
}

/** What an event does with one function of these settings. */
async function planned(settings: object, changes: Partial<NewEvent> = {}) {
  const faults: [string, string][] = [];
  const registry = await sampleRegistry(settings);
  const onFault = (id: string, fault: string) => void faults.push([id, fault]);
  const fanOut = new FanOut({ registry, runIds: createEventIdGenerator(), keyHash, onFault });
  const { runs = [], starts = [] } = fanOut.plan(1 as EnvironmentId, eventOf(changes), NOW);
  return { fanOut, registry, runs, starts, faults };
}

test("an event starts a run of the function it triggers, in its lane, at once", async () => {
  const { runs, starts } = await planned({});
  const [run] = runs;
  assert.deepEqual([runs.length, starts.length], [1, 0]);
  assert.deepEqual({ ...run, id: run?.id.length }, { id: 26, functionNo: 1, lane: "app:1", dueAt: NOW, rank: NOW });
});

test("an event that triggers nothing is left as it is, and another environment's functions are not looked at", async () => {
  const registry = await sampleRegistry({});
  const fanOut = new FanOut({ registry, runIds: createEventIdGenerator(), keyHash, onFault: () => assert.fail() });
  const event = eventOf({ name: "x/z" });
  assert.equal(fanOut.plan(1 as EnvironmentId, event, NOW), event);
  const elsewhere = eventOf();
  assert.equal(fanOut.plan(2 as EnvironmentId, elsewhere, NOW), elsewhere);
});

test("a condition decides; one that has no value starts nothing, and its owner is told", async () => {
  const triggered = (expression: string) => planned({ triggers: [{ event: "x/y", expression }] });
  assert.equal((await triggered("event.data.n > 4")).runs.length, 1);
  const not = await triggered("event.data.n > 5");
  assert.deepEqual([not.runs.length, not.faults.length], [0, 0]);
  const faulty = await triggered("event.data.none > 5");
  assert.deepEqual([faulty.runs.length, faulty.faults.map(([id]) => id)], [0, ["app-fn"]]);
  const either = await planned({ triggers: [{ event: "x/y", expression: "false" }, { event: "x/*" }] });
  assert.equal(either.runs.length, 1, "a trigger without a condition is enough");
  const settled = await planned({ triggers: [{ event: "x/y", expression: "event.data.none > 5" }, { event: "x/*" }] });
  assert.deepEqual([settled.runs.length, settled.faults], [1, []], "then the others are not asked");
});

test("an event of the future starts its runs then, unless that is more than a year away", async () => {
  const dueAt = async (ts: number) => (await planned({}, { ts })).runs[0]?.dueAt;
  assert.equal(await dueAt(NOW - 1), NOW);
  assert.equal(await dueAt(NOW + 1), NOW + 1);
  assert.equal(await dueAt(NOW + 366 * DAY_MS), NOW + 366 * DAY_MS);
  assert.equal(await dueAt(NOW + 366 * DAY_MS + 1), NOW);
});

test("priority moves a run ahead or back by whole seconds, twelve hours at most; what is no number does nothing", async () => {
  const ahead = async (run: string) => NOW - ((await planned({ priority: { run } })).runs[0]?.rank ?? 0);
  assert.equal(await ahead("event.data.n"), 5_000);
  assert.equal(await ahead("0 - event.data.n"), -5_000);
  assert.equal(await ahead("2.9"), 2_000);
  assert.equal(await ahead("43200"), 43_200_000);
  assert.equal(await ahead("43201"), 43_200_000);
  assert.equal(await ahead("0 - 43201"), -43_200_000);
  for (const none of ["event.data.none", '"5"', "event.data"]) assert.equal(await ahead(none), 0, none);
});

test("a run waits for the events that cancel it, for as long as was said or a year", async () => {
  const cancel = [{ event: "x/stop", if: "async.data.n == event.data.n", timeout: "1h" }, { event: "x/end" }];
  const { runs } = await planned({ cancel });
  assert.deepEqual(runs[0]?.cancels, [
    {
      kind: "cancel",
      eventName: "x/stop",
      expression: "async.data.n == event.data.n",
      stepId: null,
      since: 0,
      expiresAt: NOW + 3_600_000,
      match: { path: "data.n", key: "n:5" },
    },
    { kind: "cancel", eventName: "x/end", expression: null, stepId: null, since: 0, expiresAt: NOW + 366 * DAY_MS, match: null },
  ]);
});

test("a run that has to start within a time is given up after it, counted from when it is due", async () => {
  assert.equal((await planned({ timeouts: { start: "10s" } })).runs[0]?.startBy, NOW + 10_000);
  assert.equal((await planned({ timeouts: { start: "10s" } }, { ts: NOW + 5_000 })).runs[0]?.startBy, NOW + 15_000);
  assert.equal("startBy" in ((await planned({})).runs[0] ?? {}), false);
});

test("where a function has rules about its starts, a request is kept instead of a run", async () => {
  const rules = {
    rateLimit: { limit: 1, period: "1h" },
    debounce: { period: "10s" },
    batchEvents: { maxSize: 2, timeout: "10s" },
    singleton: { mode: "skip" },
    idempotency: "event.data.n",
  };
  const page = readFileSync(new URL("../../../../docs/explanation/life-of-an-event.md", import.meta.url), "utf8");
  for (const [name, rule] of Object.entries(rules)) {
    assert.ok(page.includes(`\`${name}\``), `the page about the life of an event does not name ${name}`);
    const { runs, starts, fanOut, registry } = await planned({ [name]: rule }, { ts: NOW + 7 });
    assert.deepEqual([runs, starts], [[], [{ functionNo: 1, dueAt: NOW + 7 }]], name);
    assert.equal(hasStartRules(sampleFunction(registry)), true);
    assert.deepEqual(fanOut.begin(sampleFunction(registry), eventOf(), NOW + 9, NOW), { start: { functionNo: 1, dueAt: NOW + 9 } });
  }
  const { fanOut, registry } = await planned({ concurrency: { limit: 1, key: "event.data.n" } });
  const begun = fanOut.begin(sampleFunction(registry), eventOf(), NOW + 9, NOW);
  assert.ok("run" in begun);
  assert.deepEqual([begun.run.dueAt, begun.run.rank, begun.run.lane], [NOW + 9, NOW + 9, 'fn:1:["#5"]']);
});

test("a payload is parsed once, however often it is asked for", () => {
  let made = 0;
  const value = once(() => {
    made++;
    return eventValue(eventOf());
  });
  assert.equal(made, 0);
  assert.equal(value(), value());
  assert.equal(made, 1);
});

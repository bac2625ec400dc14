import assert from "node:assert/strict";
import { test } from "node:test";
import type { EntryNo, EnvironmentId, FunctionNo, RunNo } from "@inlet/protocol";
import type { ClaimedEntry } from "../../store/contract/index.ts";
import { type LimitRule, Scheduler } from "./scheduler.ts";

function entry(lane: string, no: number, rank = no): ClaimedEntry {
  return {
    ...{
      no: no as EntryNo,
      kind: "call",
      environmentId: 1 as EnvironmentId,
      lane,
      rank,
      dueAt: rank,
      runNo: no as RunNo,
      functionNo: 1 as FunctionNo,
    },
    ...{ stepId: null, attempt: 0, claims: 1, trials: 0, subject: null, eventSequence: null },
  };
}

/** Works on an entry until the test says it is done. */
class Bench {
  readonly begun: string[] = [];
  limits: Record<string, LimitRule[]> = {};
  readonly store = new Map<string, ClaimedEntry[]>();
  claims = 0;
  now = 0;
  readonly #done = new Map<string, () => void>();
  readonly scheduler = new Scheduler({
    work: (worked) => {
      const name = `${worked.lane}${worked.no}`;
      this.begun.push(name);
      return new Promise((resolve) => this.#done.set(name, resolve));
    },
    claim: async (lane, limit) => {
      this.claims++;
      const waiting = this.store.get(lane) ?? [];
      return { claimed: waiting.splice(0, limit), more: waiting.length > 0 };
    },
    limitsOf: (lane) => this.limits[lane] ?? [],
    holdsByPace: true,
    now: () => this.now,
  });

  async finish(...names: string[]): Promise<void> {
    for (const name of names) {
      this.#done.get(name)?.();
      this.#done.delete(name);
    }
    await settled();
  }

  get underWay(): string[] {
    return [...this.#done.keys()].sort();
  }
}

const settled = () => new Promise((resolve) => setImmediate(resolve));

test("a lane moves while its limits have places, in order", async () => {
  const bench = new Bench();
  bench.limits = { a: [{ id: "x", cap: 2 }] };
  bench.scheduler.take([1, 2, 3, 4].map((no) => entry("a", no)));
  assert.deepEqual(bench.begun, ["a1", "a2"]);
  await bench.finish("a2");
  assert.deepEqual(bench.begun, ["a1", "a2", "a3"]);
  await bench.finish("a1", "a3");
  assert.deepEqual(bench.begun, ["a1", "a2", "a3", "a4"]);
});

test("lanes under one limit take turns, the longest blocked first", async () => {
  const bench = new Bench();
  bench.limits = { a: [{ id: "x", cap: 1 }], b: [{ id: "x", cap: 1 }] };
  bench.scheduler.take([entry("a", 1), entry("a", 2), entry("a", 3), entry("b", 4), entry("b", 5)]);
  for (const name of ["a1", "a2", "b4", "a3", "b5"]) await bench.finish(name);
  assert.deepEqual(bench.begun, ["a1", "a2", "b4", "a3", "b5"]);
});

test("a place that one lane cannot use goes to the next", async () => {
  const bench = new Bench();
  const shared = { id: "shared", cap: 1 };
  bench.limits = { a: [shared], b: [shared, { id: "own", cap: 1 }], own: [{ id: "own", cap: 1 }], c: [shared] };
  bench.scheduler.take([entry("a", 1)]);
  bench.scheduler.take([entry("b", 2)]);
  bench.scheduler.take([entry("own", 3)]);
  bench.scheduler.take([entry("c", 4)]);
  assert.deepEqual(bench.underWay, ["a1", "own3"]);
  await bench.finish("a1");
  assert.deepEqual(bench.underWay, ["c4", "own3"], "b waits for its own limit, so c goes");
  await bench.finish("own3", "c4");
  assert.deepEqual(bench.underWay, ["b2"]);
});

test("the lower rank goes first among those that wait", async () => {
  const bench = new Bench();
  bench.limits = { a: [{ id: "x", cap: 1 }] };
  bench.scheduler.take([entry("a", 1, 10)]);
  bench.scheduler.take([entry("a", 2, 30), entry("a", 3, 20)]);
  bench.scheduler.take([entry("a", 4, 5), entry("a", 5, 20)]);
  for (const name of ["a1", "a4", "a3", "a5"]) await bench.finish(name);
  assert.deepEqual(bench.begun, ["a1", "a4", "a3", "a5", "a2"]);
});

test("what the store holds of a lane is fetched when the lane runs low, and new work must not overtake it", async () => {
  const bench = new Bench();
  bench.limits = { a: [{ id: "x", cap: 1 }] };
  bench.store.set(
    "a",
    Array.from({ length: 1_500 }, (_, no) => entry("a", no)),
  );
  bench.scheduler.noteBacklog("a");
  assert.equal(bench.scheduler.roomIn("a"), 0);
  await settled();
  assert.equal(bench.claims, 1);
  for (let no = 0; no < 700; no++) await bench.finish(`a${no}`);
  assert.equal(bench.claims, 1, "still enough in memory");
  assert.equal(bench.scheduler.roomIn("a"), 0, "there is more in the store");
  for (let no = 700; no < 1_499; no++) await bench.finish(`a${no}`);
  assert.equal(bench.claims, 2);
  assert.deepEqual(bench.begun.at(-1), "a1499");
  assert.ok(bench.scheduler.roomIn("a") > 0);
});

test("of a lane that moves quickly more is held, and again when it has been empty; of one that stands still no more than of any", async () => {
  const bench = new Bench();
  bench.limits = { quick: [{ id: "x", cap: 800 }], slow: [{ id: "y", cap: 1 }] };
  const numbers = Array.from({ length: 800 }, (_, no) => no);
  bench.scheduler.take([...numbers.map((no) => entry("quick", no)), entry("slow", 0)]);
  bench.now = 500;
  await bench.finish(...numbers.slice(0, 799).map((no) => `quick${no}`));
  assert.equal(bench.scheduler.roomIn("quick"), Math.round((799 / 500) * 4_000));
  assert.equal(bench.scheduler.roomIn("slow"), 1_000);
  await bench.finish("quick799");
  bench.now = 60_000;
  assert.equal(bench.scheduler.roomIn("quick"), Math.round((799 / 500) * 4_000), "that it was empty says nothing");
  bench.scheduler.take([entry("quick", 900)]);
  bench.now = 61_000;
  assert.equal(bench.scheduler.roomIn("quick"), 1_000, "it stands still");
});

test("a lane that is done leaves nothing behind, and limits that change hold from then on", async () => {
  const bench = new Bench();
  bench.limits = { a: [{ id: "x", cap: 1 }] };
  bench.scheduler.take([entry("a", 1), entry("a", 2), entry("a", 3)]);
  bench.limits = { a: [{ id: "x", cap: 2 }] };
  bench.scheduler.refreshLimits();
  assert.deepEqual(bench.underWay, ["a1", "a2"]);
  assert.equal(bench.scheduler.held().length, 3);
  await bench.finish("a1", "a2");
  await bench.finish("a3");
  assert.deepEqual([bench.scheduler.held().length, bench.scheduler.roomIn("a")], [0, 1_000]);
});

test("stopping waits for what is under way and begins nothing more", async () => {
  const bench = new Bench();
  bench.limits = { a: [{ id: "x", cap: 1 }] };
  bench.scheduler.take([entry("a", 1), entry("a", 2)]);
  let hasStopped = false;
  const stopped = bench.scheduler.stop().then(() => (hasStopped = true));
  await settled();
  assert.equal(hasStopped, false);
  await bench.finish("a1");
  await stopped;
  assert.deepEqual(bench.begun, ["a1"]);
  assert.equal(bench.scheduler.roomIn("b"), 0);
});

import assert from "node:assert/strict";
import { test } from "node:test";
import type { EntryNo, EnvironmentId, FunctionNo, LeaseId, RunNo } from "@inlet/protocol";
import { type ClaimedEntry, type LimitRule, NO_PROBES } from "../../store/contract/index.ts";
import { Scheduler } from "./scheduler.ts";

function entry(lane: string, no: number, rank = no, leasedUntil = 1_000_000): ClaimedEntry {
  return {
    no: no as EntryNo,
    leaseId: `${lane}${no}` as LeaseId,
    leasedUntil,
    kind: "call",
    environmentId: 1 as EnvironmentId,
    lane,
    rank,
    dueAt: rank,
    runNo: no as RunNo,
    functionNo: 1 as FunctionNo,
    stepId: null,
    attempt: 0,
    claims: 1,
    probes: NO_PROBES,
    subject: null,
    eventSequence: null,
    endedRunNo: null,
    outcome: null,
  };
}

/** Works on an entry until the test says it is done. Limits are counted as a store counts them. */
class Bench {
  readonly begun: string[] = [];
  readonly aborted: string[] = [];
  readonly claimed: string[] = [];
  apps: Record<string, LimitRule> = {};
  limits: Record<string, LimitRule[]> = {};
  /** Of the lanes that are not in the first. */
  databases: Record<string, number> = {};
  readonly store = new Map<string, ClaimedEntry[]>();
  now = 0;
  readonly #slots = new Map<string, number>();
  readonly #done = new Map<string, () => void>();
  readonly #alarms = new Map<() => void, number>();
  readonly scheduler = new Scheduler({
    work: async (worked, signal) => {
      const name = `${worked.lane}${worked.no}`;
      this.begun.push(name);
      signal.addEventListener("abort", () => this.aborted.push(name));
      await new Promise<void>((resolve) => this.#done.set(name, resolve));
      this.free(worked.lane);
    },
    claim: async (lane, limit, limits) => {
      this.claimed.push(lane);
      const counted = (id: string) => `${this.databases[lane] ?? 0}:${id}`;
      const free = ({ id, cap }: LimitRule) => cap - (this.#slots.get(counted(id)) ?? 0);
      const room = Math.min(limit, ...limits.map(free));
      const waiting = this.store.get(lane) ?? [];
      const claimed = waiting.splice(0, room).map((one) => ({ ...one, leasedUntil: this.now + 1_000_000 }));
      for (const { id } of limits) this.#add(lane, id, claimed.length);
      return { claimed, more: waiting.length > 0, fullLimits: limits.filter((rule) => free(rule) <= 0).map(({ id }) => id) };
    },
    databaseOf: (lane) => this.databases[lane] ?? 0,
    rulesOf: (lane) => ({ limits: this.limits[lane] ?? [], app: this.apps[lane] ?? { id: "app", cap: 100 } }),
    release: async (entries) => {
      for (const one of entries)
        this.store.set(
          one.lane,
          [...(this.store.get(one.lane) ?? []), one].sort((a, b) => a.rank - b.rank),
        );
    },
    limitsOf: ({ lane }) => this.limits[lane] ?? [],
    takeSlots: async (calls) => {
      for (const { lane, limits } of calls) for (const { id } of limits) this.#add(lane, id, 1);
    },
    prefetch: 1_000,
    clock: {
      now: () => this.now,
      after: (delayMs, work) => {
        this.#alarms.set(work, this.now + delayMs);
        return () => this.#alarms.delete(work);
      },
    },
  });

  free(lane: string): void {
    const ids = (this.limits[lane] ?? []).map(({ id }) => id);
    for (const id of ids) this.#add(lane, id, -1);
    this.scheduler.noteFreed(ids);
  }

  #add(lane: string, limitId: string, count: number): void {
    const id = `${this.databases[lane] ?? 0}:${limitId}`;
    this.#slots.set(id, (this.#slots.get(id) ?? 0) + count);
  }

  put(lane: string, ...numbers: number[]): void {
    this.store.set(
      lane,
      numbers.map((no) => entry(lane, no)),
    );
    this.scheduler.noteBacklog(lane);
  }

  async finish(...names: string[]): Promise<void> {
    for (const name of names) {
      this.#done.get(name)?.();
      this.#done.delete(name);
    }
    await settled();
  }

  /** All alarms go off. */
  passTime(): Promise<void> {
    return this.#goOff(() => true);
  }

  pass(ms: number): Promise<void> {
    this.now += ms;
    return this.#goOff((at) => at <= this.now);
  }

  async #goOff(isDue: (at: number) => boolean): Promise<void> {
    for (const [alarm, at] of [...this.#alarms]) {
      if (!isDue(at)) continue;
      this.#alarms.delete(alarm);
      alarm();
    }
    await settled();
  }

  get underWay(): string[] {
    return [...this.#done.keys()].sort();
  }
}

const settled = () => new Promise((resolve) => setImmediate(resolve));

test("a lane moves while its app takes calls, in order", async () => {
  const bench = new Bench();
  bench.apps = { a: { id: "x", cap: 2 } };
  bench.scheduler.take([1, 2, 3, 4].map((no) => entry("a", no)));
  assert.deepEqual(bench.begun, ["a1", "a2"]);
  await bench.finish("a2");
  assert.deepEqual(bench.begun, ["a1", "a2", "a3"]);
  await bench.finish("a1", "a3");
  assert.deepEqual(bench.begun, ["a1", "a2", "a3", "a4"]);
});

test("lanes of one app take turns, the longest blocked first", async () => {
  const bench = new Bench();
  bench.apps = { a: { id: "x", cap: 1 }, b: { id: "x", cap: 1 } };
  bench.scheduler.take([entry("a", 1), entry("a", 2), entry("a", 3), entry("b", 4), entry("b", 5)]);
  for (const name of ["a1", "a2", "b4", "a3", "b5"]) await bench.finish(name);
  assert.deepEqual(bench.begun, ["a1", "a2", "b4", "a3", "b5"]);
});

test("the lower rank goes first among those that wait", async () => {
  const bench = new Bench();
  bench.apps = { a: { id: "x", cap: 1 } };
  bench.scheduler.take([entry("a", 1, 10)]);
  bench.scheduler.take([entry("a", 2, 30), entry("a", 3, 20)]);
  bench.scheduler.take([entry("a", 4, 5), entry("a", 5, 20)]);
  for (const name of ["a1", "a4", "a3", "a5"]) await bench.finish(name);
  assert.deepEqual(bench.begun, ["a1", "a4", "a3", "a5", "a2"]);
});

test("what the store holds of a lane is fetched when the lane runs low, and new work must not overtake it", async () => {
  const bench = new Bench();
  bench.apps = { a: { id: "x", cap: 1 } };
  bench.put("a", ...Array.from({ length: 1_500 }, (_, no) => no));
  assert.equal(bench.scheduler.roomIn("a"), 0);
  await settled();
  assert.equal(bench.claimed.length, 1);
  for (let no = 0; no < 700; no++) await bench.finish(`a${no}`);
  assert.equal(bench.claimed.length, 1, "still enough in memory");
  assert.equal(bench.scheduler.roomIn("a"), 0, "there is more in the store");
  for (let no = 700; no < 1_499; no++) await bench.finish(`a${no}`);
  assert.equal(bench.claimed.length, 2);
  assert.deepEqual(bench.begun.at(-1), "a1499");
  assert.ok(bench.scheduler.roomIn("a") > 0);
});

test("a lane with limits is given nothing at birth, and claims what there are slots for as they become free", async () => {
  const bench = new Bench();
  bench.limits = { a: [{ id: "one", cap: 2 }] };
  assert.equal(bench.scheduler.roomIn("a"), 0);
  bench.put("a", 1, 2, 3, 4);
  await settled();
  assert.deepEqual(bench.underWay, ["a1", "a2"]);
  await bench.finish("a1");
  assert.deepEqual(bench.underWay, ["a2", "a3"]);
  await bench.finish("a2", "a3");
  await bench.finish("a4");
  assert.deepEqual(bench.begun, ["a1", "a2", "a3", "a4"]);
});

test("lanes that share a limit take turns, and one that another limit holds up does not keep the slot from the next", async () => {
  const bench = new Bench();
  const shared = { id: "shared", cap: 1 };
  bench.limits = { a: [shared], b: [shared], c: [shared, { id: "own", cap: 0 }] };
  bench.put("a", 1, 2, 6);
  bench.put("c", 3);
  bench.put("b", 4, 5);
  await settled();
  for (const name of ["a1", "a2", "b4", "a6", "b5"]) {
    assert.deepEqual(bench.underWay, [name]);
    await bench.finish(name);
  }
  assert.deepEqual(bench.underWay, []);
});

test("a limit of lanes in two databases counts in each: a slot goes to a lane of the database that has it", async () => {
  const bench = new Bench();
  const shared: LimitRule = { id: "account", cap: 1 };
  bench.limits = { a: [shared], b: [shared], c: [shared] };
  bench.databases = { b: 1, c: 1 };
  bench.put("a", 1, 2);
  bench.put("b", 1);
  await settled();
  assert.deepEqual(bench.underWay, ["a1", "b1"]);
  // The first waits longest, and its limit stays full.
  bench.put("c", 1);
  await settled();
  await bench.finish("b1");
  assert.deepEqual(bench.underWay, ["a1", "c1"]);
  await bench.finish("a1");
  assert.deepEqual(bench.underWay, ["a2", "c1"]);
});

test("a full lane looks again by itself: the node that held the slots may have died", async () => {
  const bench = new Bench();
  bench.limits = { a: [{ id: "one", cap: 0 }] };
  bench.put("a", 1);
  await settled();
  assert.deepEqual(bench.underWay, []);
  bench.limits.a = [{ id: "one", cap: 1 }];
  bench.scheduler.refreshRules();
  await settled();
  assert.deepEqual(bench.underWay, ["a1"], "new rules hold at once");
  bench.put("a", 2);
  await settled();
  bench.free("none");
  (bench.store.get("a") as ClaimedEntry[]).push(entry("a", 3));
  await bench.finish("a1");
  await bench.passTime();
  assert.deepEqual(bench.underWay, ["a2"]);
});

test("however many lanes are full, they claim at most 200 times a second, and each claims again", async () => {
  const bench = new Bench();
  const lanes = Array.from({ length: 4_000 }, (_, n) => `lane ${n}`);
  for (const lane of lanes) {
    bench.limits[lane] = [{ id: lane, cap: 0 }];
    bench.put(lane, 1);
  }
  await settled();
  bench.claimed.length = 0;
  const seconds = 60;
  for (let n = 0; n < seconds; n++) await bench.pass(1_000);
  assert.equal(new Set(bench.claimed).size, lanes.length);
  assert.ok(bench.claimed.length <= seconds * 200, `${bench.claimed.length} claims`);
});

test("entries whose leases are over are claimed again, in their order, and a call whose lease is lost is told", async () => {
  const bench = new Bench();
  bench.apps = { a: { id: "x", cap: 1 } };
  bench.scheduler.take([entry("a", 1), entry("a", 2, 2, 50), entry("a", 3), entry("a", 4)]);
  bench.now = 50;
  await bench.finish("a1");
  assert.deepEqual([bench.begun, bench.claimed], [["a1", "a2"], ["a"]]);
  bench.scheduler.drop(new Set(["a2", "a3"] as LeaseId[]));
  assert.deepEqual(bench.aborted, ["a2"]);
  await settled();
  await bench.finish("a2");
  await bench.finish("a3");
  await bench.finish("a4");
  assert.deepEqual(
    [bench.begun, bench.claimed],
    [
      ["a1", "a2", "a3", "a4"],
      ["a", "a"],
    ],
  );
  assert.deepEqual([bench.scheduler.held().length, bench.scheduler.roomIn("a")], [0, 1_000], "the lane is forgotten");
});

test("what is lost while the node stops is returned first", async () => {
  const bench = new Bench();
  bench.apps = { a: { id: "x", cap: 1 } };
  bench.scheduler.take([entry("a", 1), entry("a", 2)]);
  const stopped = bench.scheduler.stop();
  bench.scheduler.drop(new Set(["a2"] as LeaseId[]));
  await bench.finish("a1");
  await stopped;
  assert.deepEqual([bench.scheduler.held(), bench.store.get("a")?.map(({ no }) => no)], [[], [2]]);
});

test("a lane that is done leaves nothing behind", async () => {
  const bench = new Bench();
  bench.scheduler.take([entry("a", 1), entry("a", 2)]);
  assert.equal(bench.scheduler.held().length, 2);
  await bench.finish("a1", "a2");
  assert.deepEqual([bench.scheduler.held().length, bench.scheduler.roomIn("a")], [0, 1_000]);
});

test("stopping waits for claims under way: what they bring is held, and can be let go of", async () => {
  const bench = new Bench();
  bench.put("a", 1, 2);
  await bench.scheduler.stop();
  assert.deepEqual([bench.begun, bench.scheduler.held().length], [[], 2]);
});

test("stopping waits for what is under way and begins nothing more", async () => {
  const bench = new Bench();
  bench.apps = { a: { id: "x", cap: 1 } };
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

test("a lane that gets a limit returns what waits here, and claims it with slots, which calls in progress take first", async () => {
  const bench = new Bench();
  bench.apps = { a: { id: "x", cap: 1 } };
  bench.scheduler.take([1, 2, 3].map((no) => entry("a", no)));
  assert.deepEqual(bench.begun, ["a1"]);
  bench.limits = { a: [{ id: "quota", cap: 1 }] };
  bench.apps = { a: { id: "x", cap: 100 } };
  bench.scheduler.refreshRules();
  await settled();
  await settled();
  assert.deepEqual(bench.begun, ["a1"], "the call in progress has the slot");
  await bench.finish("a1");
  assert.deepEqual(bench.begun, ["a1", "a2"]);
  bench.scheduler.refreshRules();
  await bench.finish("a2");
  assert.deepEqual(bench.begun, ["a1", "a2", "a3"], "a slot is taken once");
});

test("what was leased before its lane got a limit is returned, and claimed with slots", async () => {
  const bench = new Bench();
  bench.limits = { a: [{ id: "quota", cap: 1 }] };
  bench.scheduler.take([1, 2, 3].map((no) => entry("a", no)));
  assert.deepEqual(bench.begun, []);
  await settled();
  await settled();
  assert.deepEqual(bench.begun, ["a1"]);
  await bench.finish("a1");
  await bench.finish("a2");
  assert.deepEqual(bench.begun, ["a1", "a2", "a3"]);
});

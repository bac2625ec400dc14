import assert from "node:assert/strict";
import { test } from "node:test";
import type { FunctionNo } from "@inlet/protocol";
import type { RunAdmitParams, RunAdmitResult } from "../../store/contract/index.ts";
import { type GateRule, Gates } from "./gates.ts";

interface Ask {
  params: RunAdmitParams;
  lanes: string[];
  answer(result: Partial<RunAdmitResult>): Promise<void>;
  fail(): Promise<void>;
}

/** The store answers when the test says so, and time passes when the test lets it. */
class Bench {
  readonly asks: Ask[] = [];
  readonly rules = new Map<string, GateRule>();
  readonly alarms = new Map<() => void, number>();
  now = 0;
  readonly gates = new Gates({
    store: {
      runAdmitMany: (params) =>
        new Promise((resolve, reject) => {
          const lanes = params.gates.map(({ lane }) => lane);
          this.asks.push({
            params,
            lanes,
            answer: (result) => settled(() => resolve({ admitted: 0, waiting: [], more: false, nextAt: null, ...result })),
            fail: () => settled(() => reject(new Error("the store is away"))),
          });
        }),
    },
    gateOf: (lane) => this.rules.get(lane) ?? null,
    clock: {
      now: () => this.now,
      after: (delayMs, work) => {
        this.alarms.set(work, this.now + delayMs);
        return () => this.alarms.delete(work);
      },
    },
  });

  constructor(...rules: [lane: string, rule: Partial<GateRule>][]) {
    for (const [lane, rule] of rules) this.set(lane, rule);
  }

  set(lane: string, rule: Partial<GateRule>): void {
    const nothing = { limit: null, orderKey: null, freedBy: null, throttle: null };
    this.rules.set(lane, { name: "gate", functionNo: 1 as FunctionNo, ...nothing, home: `home of ${lane}`, ...rule });
  }

  /** The ask at this position, the last one if absent. */
  ask(index = -1): Ask {
    return this.asks.at(index) as Ask;
  }

  /** When the store will be asked again, if nothing happens. */
  times(): number[] {
    return [...this.alarms.values()].sort((a, b) => a - b);
  }

  pass(ms: number): void {
    this.now += ms;
    for (const [work, at] of [...this.alarms]) {
      if (at > this.now) continue;
      this.alarms.delete(work);
      work();
    }
  }
}

async function settled(act: () => void): Promise<void> {
  act();
  await new Promise(setImmediate);
}

test("a lane that is no gate is not asked for", () => {
  const { gates, asks } = new Bench();
  assert.equal(gates.isGate("lane"), false);
  gates.note("lane");
  assert.equal(asks.length, 0);
});

test("gates of one name are asked for together, with the lanes in which runs continue", async () => {
  const bench = new Bench(["one", {}], ["two", {}]);
  assert.equal(bench.gates.isGate("one"), true);
  bench.gates.note("one");
  bench.gates.note("two");
  await bench.ask().answer({ waiting: ["one"] });
  assert.deepEqual(bench.ask().params.gates, [
    { lane: "one", home: "home of one" },
    { lane: "two", home: "home of two" },
  ]);
  assert.equal(bench.asks.length, 2, "what was noted during an ask leads to one more");
});

test("a gate in which runs wait is asked for again, one without is forgotten", async () => {
  const bench = new Bench(["one", {}]);
  bench.gates.note("one");
  await bench.ask().answer({ waiting: ["one"] });
  assert.deepEqual(bench.times(), [5_000]);
  bench.pass(5_000);
  assert.equal(bench.asks.length, 2);
  await bench.ask().answer({ waiting: [] });
  assert.deepEqual(bench.times(), []);
});

test("only the lanes in which runs still wait are asked for again", async () => {
  const bench = new Bench(["one", {}], ["two", {}]);
  bench.gates.note("one");
  await bench.ask().answer({ waiting: ["one"] });
  bench.gates.note("two");
  await bench.ask().answer({ waiting: ["two"] });
  bench.pass(5_000);
  assert.deepEqual(bench.ask().lanes, ["two"]);
});

test("runs that start in order are asked for less often", async () => {
  const bench = new Bench(["one", { orderKey: "key" }]);
  bench.gates.note("one");
  await bench.ask().answer({ waiting: ["one"] });
  assert.deepEqual(bench.times(), [30_000]);
});

test("a throttle is asked when its next run may start, and at least every minute", async () => {
  const throttle = { key: "key", admit: () => () => ({ count: 0, remember: "", expiresAt: 0, nextAt: 0 }) };
  const bench = new Bench(["one", { throttle }]);
  bench.gates.note("one");
  await bench.ask().answer({ waiting: ["one"], nextAt: 1_200 });
  assert.deepEqual(bench.times(), [1_200]);
  bench.pass(1_200);
  await bench.ask().answer({ waiting: ["one"], nextAt: 100_000 });
  assert.deepEqual(bench.times(), [61_200]);
  bench.pass(60_000);
  await bench.ask().answer({ waiting: ["one"], nextAt: 10 });
  assert.deepEqual(bench.times(), [61_200], "a time that is over: at once");
});

test("however many throttles wait for an hour, none is asked within the minute, and each of them at its time", async () => {
  const throttle = { key: "key", admit: () => () => ({ count: 0, remember: "", expiresAt: 0, nextAt: 0 }) };
  const lanes = Array.from({ length: 2_000 }, (_, n) => `lane ${n}`);
  const bench = new Bench(...lanes.map((lane): [string, Partial<GateRule>] => [lane, { name: lane, throttle }]));
  const hour = 3_600_000;
  const answerAll = async () => {
    for (const ask of bench.asks.splice(0)) await ask.answer({ waiting: ask.lanes, nextAt: hour });
  };
  for (const lane of lanes) bench.gates.note(lane);
  await answerAll();
  for (let n = 0; n < 59; n++) bench.pass(1_000);
  assert.equal(bench.asks.length, 0);
  bench.pass(hour - bench.now - 1);
  await answerAll();
  assert.deepEqual(new Set(bench.times()), new Set([hour]));
  bench.pass(1);
  assert.equal(bench.asks.length, lanes.length);
});

test("however many gates wait for slots, they are asked for at most 200 times a second, and each again", async () => {
  const lanes = Array.from({ length: 4_000 }, (_, n) => `lane ${n}`);
  const bench = new Bench(...lanes.map((lane): [string, Partial<GateRule>] => [lane, { name: lane, freedBy: lane }]));
  for (const lane of lanes) bench.gates.note(lane);
  const asked: string[] = [];
  const seconds = 60;
  for (let n = 0; n <= seconds; n++) {
    for (const ask of bench.asks.splice(0)) {
      if (n > 0) asked.push(...ask.lanes);
      await ask.answer({ waiting: ask.lanes });
    }
    bench.pass(1_000);
  }
  assert.equal(new Set(asked).size, lanes.length);
  assert.ok(asked.length <= seconds * 200, `${asked.length} asks`);
});

test("a throttle decides by the time at which the store asks it", () => {
  const throttle = { key: "key", admit: (now: number) => () => ({ count: 0, remember: "", expiresAt: 0, nextAt: now }) };
  const bench = new Bench(["one", { throttle }]);
  bench.gates.note("one");
  bench.pass(700);
  assert.equal(bench.ask().params.throttle?.admit(null, 1).nextAt, 700);
});

test("more that can be admitted is asked for at once", async () => {
  const bench = new Bench(["one", {}]);
  bench.gates.note("one");
  await bench.ask().answer({ waiting: [], more: true });
  assert.equal(bench.asks.length, 2);
  assert.deepEqual(bench.ask().lanes, ["one"], "no lane is forgotten before the last answer");
});

test("an ask that fails is made again after a second", async () => {
  const bench = new Bench(["one", {}]);
  bench.gates.note("one");
  await bench.ask().fail();
  assert.deepEqual(bench.times(), [1_000]);
  bench.pass(1_000);
  assert.deepEqual(bench.ask().lanes, ["one"]);
  assert.equal(bench.asks.length, 2);
});

test("a freed slot wakes the gates of its limit only", async () => {
  const bench = new Bench(["one", { name: "a", freedBy: "limit a" }], ["two", { name: "b", freedBy: "limit b" }]);
  for (const lane of ["one", "two"]) {
    bench.gates.note(lane);
    await bench.ask().answer({ waiting: [lane] });
  }
  bench.gates.noteFreed(["limit b", "limit c"]);
  assert.deepEqual(
    bench.asks.map(({ lanes }) => lanes),
    [["one"], ["two"], ["two"]],
  );
  assert.deepEqual(bench.times(), [5_000], "the timer of the woken gate is replaced");
});

test("a refresh asks with the new rules", async () => {
  const bench = new Bench(["one", { limit: { id: "limit", cap: 1 } }]);
  bench.gates.note("one");
  await bench.ask().answer({ waiting: ["one"] });
  bench.set("one", { limit: { id: "limit", cap: 5 } });
  bench.gates.refresh();
  assert.equal(bench.ask().params.limit?.cap, 5);
  assert.deepEqual(bench.times(), []);
  bench.rules.clear();
  bench.gates.refresh();
  await bench.ask().answer({ waiting: ["one"] });
  assert.deepEqual(bench.times(), [], "a lane that is no gate any more is forgotten");
});

test("however often the rules are refreshed while the store is asked, one timer is left", async () => {
  const bench = new Bench(["one", {}]);
  bench.gates.note("one");
  for (let n = 0; n < 10; n++) bench.gates.refresh();
  for (const ask of [...bench.asks]) await ask.answer({ waiting: ["one"], nextAt: 1_000 });
  assert.deepEqual(bench.times(), [1_000]);
  const before = bench.asks.length;
  bench.pass(1_000);
  assert.equal(bench.asks.length, before + 1);
});

test("a gate that was replaced while the store was asked is neither asked for again nor retried", async () => {
  const answers: ((ask: Ask) => Promise<void>)[] = [(ask) => ask.fail(), (ask) => ask.answer({ more: true, waiting: ["one"] })];
  for (const answer of answers) {
    const bench = new Bench(["one", {}]);
    bench.gates.note("one");
    const overtaken = bench.ask();
    bench.gates.refresh();
    await bench.ask().answer({ waiting: ["one"] });
    assert.deepEqual(bench.times(), [5_000]);
    await answer(overtaken);
    assert.deepEqual(bench.times(), [5_000]);
    assert.equal(bench.asks.length, 2);
  }
});

test("the response to a gate that was replaced does not remove the one in its place", async () => {
  const bench = new Bench(["one", {}]);
  bench.gates.note("one");
  const overtaken = bench.ask();
  bench.gates.refresh();
  await overtaken.answer({ waiting: [] });
  await bench.ask().answer({ waiting: ["one"] });
  assert.deepEqual(bench.times(), [5_000]);
});

test("after stop nothing is asked, whatever comes back", async () => {
  const bench = new Bench(["one", { name: "a" }], ["two", { name: "b", freedBy: "limit" }]);
  bench.gates.note("one");
  await bench.ask().answer({ waiting: ["one"] });
  bench.gates.note("two");
  bench.gates.stop();
  await bench.ask().answer({ waiting: ["two"], more: true });
  bench.gates.noteFreed(["limit"]);
  bench.gates.note("one");
  bench.pass(60_000);
  assert.equal(bench.asks.length, 2);
  assert.deepEqual(bench.times(), []);
});

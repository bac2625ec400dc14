import assert from "node:assert/strict";
import { test } from "node:test";
import type { EnvironmentId } from "@inlet/protocol";
import { pino } from "pino";
import { type ResumptionKey, type ResumptionPart, type ResumptionStore, type Store, StoreUnavailable } from "../../store/contract/index.ts";
import { Resumptions } from "./resumptions.ts";

/** The store answers when the test says so, and time passes when the test lets it. */
class Bench {
  /** Names with unfinished work. */
  names: string[] = [];
  lists = 0;
  readonly continued: string[] = [];
  readonly answers: { part(part?: Partial<ResumptionPart>): Promise<void>; fail(error: Error): Promise<void> }[] = [];
  readonly alarms = new Map<() => void, number>();
  readonly listeners = new Set<() => void>();
  readonly warnings: string[] = [];
  readonly resumptions: Resumptions;

  constructor({ isShared }: { isShared: boolean }) {
    const resumptions: Omit<ResumptionStore, "waitIsPending"> = {
      resumptionList: async () => {
        this.lists++;
        return this.names.map((eventName): ResumptionKey => ({ environmentId: 1 as EnvironmentId, eventName }));
      },
      resumptionContinue: ({ eventName }) =>
        new Promise((resolve, reject) => {
          this.continued.push(eventName);
          this.answers.push({
            part: (part) => settled(() => resolve({ isOurs: true, waits: 1, isDone: true, ...part })),
            fail: (error) => settled(() => reject(error)),
          });
        }),
      resumptionWatch: (listener) => {
        this.listeners.add(listener);
        return () => this.listeners.delete(listener);
      },
    };
    const storeDatabases = () => [{ no: 0, name: "directory", isReachable: true }];
    this.resumptions = new Resumptions({
      store: { ...resumptions, storeIsShared: isShared, storeDatabases, storeDatabaseOf: () => 0 } as unknown as Store,
      clock: {
        now: () => 0,
        after: (delayMs, work) => {
          this.alarms.set(work, delayMs);
          return () => this.alarms.delete(work);
        },
      },
      log: pino({}, { write: (line: string) => this.warnings.push(line) }),
    });
  }

  start(): Promise<void> {
    return settled(() => this.resumptions.start());
  }

  /** A transaction of this node left something. */
  note(): Promise<void> {
    return settled(() => {
      for (const listener of this.listeners) listener();
    });
  }

  /** The store answers the oldest open transaction. */
  answer(part: Partial<ResumptionPart> = {}): Promise<void> {
    return this.#next().part(part);
  }

  fail(error: Error): Promise<void> {
    return this.#next().fail(error);
  }

  ring(): Promise<void> {
    return settled(() => {
      const works = [...this.alarms.keys()];
      this.alarms.clear();
      for (const work of works) work();
    });
  }

  #next() {
    const answer = this.answers.shift();
    assert.ok(answer, "a transaction is open");
    return answer;
  }
}

async function settled(act: () => void): Promise<void> {
  act();
  await new Promise(setImmediate);
}

test("at the start, names with unfinished work are continued in turn until nothing is left", async () => {
  const bench = new Bench({ isShared: false });
  bench.names = ["a", "b"];
  await bench.start();
  assert.deepEqual(bench.continued, ["a"]);
  await bench.answer({ isDone: false });
  bench.names = ["a"];
  await bench.answer();
  assert.deepEqual(bench.continued, ["a", "b", "a"], "one transaction of each in turn");
  bench.names = [];
  await bench.answer();
  assert.equal(bench.continued.length, 3);
  assert.equal(bench.alarms.size, 0, "an embedded store has no other nodes that could leave something");
});

test("what is left during the work is continued after it", async () => {
  const bench = new Bench({ isShared: false });
  bench.names = ["a"];
  await bench.start();
  await bench.note();
  assert.equal(bench.continued.length, 1, "one transaction at a time");
  bench.names = ["b"];
  await bench.answer({ isOurs: false });
  assert.deepEqual(bench.continued, ["a", "b"]);
  bench.names = [];
  await bench.answer();
  const { lists } = bench;
  bench.names = ["c"];
  await bench.note();
  assert.deepEqual([bench.lists, bench.continued.at(-1)], [lists + 1, "c"], "also when nothing is in progress");
});

test("a name that fails stops no other, and is retried after a pause", async () => {
  const bench = new Bench({ isShared: false });
  bench.names = ["bad", "good"];
  await bench.start();
  await bench.fail(new Error("not this one"));
  assert.deepEqual(bench.continued, ["bad", "good"]);
  await bench.answer();
  assert.equal(bench.warnings.length, 1);
  assert.deepEqual([...bench.alarms.values()], [1_000]);
  assert.equal(bench.continued.length, 2, "not before");
  bench.names = ["bad"];
  await bench.ring();
  assert.deepEqual(bench.continued, ["bad", "good", "bad"]);
  bench.names = [];
  await bench.answer();
  assert.equal(bench.alarms.size, 0);
});

test("a store that cannot be used is asked again after a pause, and not for every name", async () => {
  const bench = new Bench({ isShared: true });
  bench.names = ["a", "b"];
  await bench.start();
  await bench.fail(new StoreUnavailable("away"));
  assert.deepEqual([bench.continued, bench.warnings], [["a"], []]);
  assert.deepEqual([...bench.alarms.values()], [1_000]);
  await bench.note();
  assert.equal(bench.alarms.size, 0, "a note comes before the pause is over");
  assert.deepEqual(bench.continued, ["a", "a"]);
});

test("on a shared store, what other nodes left is found by asking now and then", async () => {
  const bench = new Bench({ isShared: true });
  await bench.start();
  assert.deepEqual([...bench.alarms.values()], [5_000]);
  bench.names = ["a"];
  await bench.ring();
  await bench.answer({ isOurs: false });
  assert.deepEqual([bench.continued, [...bench.alarms.values()]], [["a"], [5_000]], "another node is at it");
});

test("a stop waits for the transaction in progress, and nothing follows it", async () => {
  const before = new Bench({ isShared: true });
  await before.resumptions.stop();
  const bench = new Bench({ isShared: true });
  bench.names = ["a", "b"];
  await bench.start();
  let isStopped = false;
  const stopping = bench.resumptions.stop().then(() => {
    isStopped = true;
  });
  await settled(() => undefined);
  assert.equal(isStopped, false);
  await bench.answer({ isDone: false });
  await stopping;
  assert.deepEqual([bench.continued, bench.alarms.size, bench.listeners.size], [["a"], 0, 0]);
  await bench.resumptions.stop();
});

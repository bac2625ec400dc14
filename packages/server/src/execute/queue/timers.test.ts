import assert from "node:assert/strict";
import { test } from "node:test";
import type { LeaseId } from "@inlet/protocol";
import type { ClaimedEntry, Lease, QueueStore } from "../../store/contract/index.ts";
import { Timers } from "./timers.ts";

const LEASE: Lease = { node: "node", until: 0, newId: () => "lease" as LeaseId, roomIn: () => 0 };

/** Due times are all that matters of an entry here. Time passes when the test lets it. */
class Bench {
  due: number[] = [];
  readonly worked: number[][] = [];
  readonly alarms = new Map<() => void, number>();
  now = 0;
  claims = 0;
  batchMax = 200;
  isAway = false;
  /** Resolves when the work of a batch may end; null: at once. */
  held: Promise<void> | null = null;
  readonly timers = new Timers({
    store: {
      queueClaimMany: async ({ limit, now }: { limit: number; now: number }) => {
        this.claims++;
        if (this.isAway) throw new Error("the store is away");
        const due = this.due.filter((at) => at <= now).slice(0, Math.min(limit, this.batchMax));
        this.due = this.due.filter((at) => !due.includes(at));
        const claimed = due.map((dueAt) => ({ dueAt }) as ClaimedEntry);
        return { claimed, more: this.due.some((at) => at <= now), fullLimits: [] };
      },
      queueNextDue: async () => (this.due.length > 0 ? Math.min(...this.due) : null),
    } as unknown as QueueStore,
    lease: () => LEASE,
    work: async (entries) => {
      if (entries.length > 0) this.worked.push(entries.map(({ dueAt }) => dueAt));
      await this.held;
    },
    clock: {
      now: () => this.now,
      after: (delayMs, work) => {
        this.alarms.set(work, this.now + delayMs);
        return () => this.alarms.delete(work);
      },
    },
  });

  async add(dueAt: number): Promise<void> {
    this.due.push(dueAt);
    this.timers.wakeBy(dueAt);
    await settled();
  }

  times(): number[] {
    return [...this.alarms.values()];
  }

  async pass(ms: number): Promise<void> {
    this.now += ms;
    for (const [work, at] of [...this.alarms]) {
      if (at > this.now) continue;
      this.alarms.delete(work);
      work();
    }
    await settled();
  }

  async start(): Promise<void> {
    this.timers.start();
    await this.pass(0);
  }
}

async function settled(): Promise<void> {
  await new Promise(setImmediate);
}

test("what is due at the start is processed at once, and the next when it is due", async () => {
  const bench = new Bench();
  bench.due = [-5, 700];
  await bench.start();
  assert.deepEqual(bench.worked, [[-5]]);
  assert.deepEqual(bench.times(), [700]);
  await bench.pass(700);
  assert.deepEqual(bench.worked, [[-5], [700]]);
});

test("an idle store is asked every thirty seconds, and a far entry does not change that", async () => {
  const bench = new Bench();
  await bench.start();
  assert.deepEqual(bench.times(), [30_000]);
  await bench.add(100_000);
  assert.deepEqual(bench.times(), [30_000]);
  await bench.pass(30_000);
  assert.equal(bench.claims, 2);
  assert.deepEqual(bench.times(), [60_000]);
});

test("an entry that is due earlier moves the one timer", async () => {
  const bench = new Bench();
  await bench.start();
  await bench.add(5_000);
  await bench.add(2_000);
  await bench.add(3_000);
  assert.deepEqual(bench.times(), [2_000]);
});

test("a clock that is set forward delays nothing that is added: the wait was measured by the time before", async () => {
  const bench = new Bench();
  await bench.start();
  bench.now += 600_000;
  await bench.add(bench.now + 500);
  assert.equal(bench.claims, 2);
  assert.deepEqual(bench.times(), [600_500], "the wait that began before is over");
});

test("all that is due is processed, batch after batch", async () => {
  const bench = new Bench();
  bench.due = [-3, -2, -1];
  bench.batchMax = 2;
  await bench.start();
  assert.deepEqual(bench.worked, [[-3, -2], [-1]]);
});

test("an entry that is added while a batch is processed is not forgotten", async () => {
  const bench = new Bench();
  const gate = Promise.withResolvers<void>();
  bench.held = gate.promise;
  bench.due = [0];
  await bench.start();
  await bench.add(400);
  await bench.pass(500);
  assert.equal(bench.claims, 1, "one claim at a time");
  bench.held = null;
  gate.resolve();
  await settled();
  await bench.pass(0);
  assert.deepEqual(bench.worked, [[0], [400]]);
  assert.equal(bench.alarms.size, 1);
});

test("a claim that fails is made again after a second, with one timer however often it fails", async () => {
  const bench = new Bench();
  bench.isAway = true;
  bench.due = [0];
  await bench.start();
  for (let n = 1; n <= 5; n++) {
    assert.deepEqual(bench.times(), [n * 1_000]);
    await bench.pass(1_000);
    assert.equal(bench.claims, n + 1);
  }
  bench.isAway = false;
  await bench.pass(1_000);
  assert.deepEqual(bench.worked, [[0]]);
});

test("stop waits for the batch in progress, and nothing is claimed afterwards", async () => {
  const bench = new Bench();
  const gate = Promise.withResolvers<void>();
  bench.held = gate.promise;
  bench.due = [0];
  await bench.start();
  let isStopped = false;
  const stopping = bench.timers.stop().then(() => (isStopped = true));
  bench.due = [0];
  await settled();
  assert.equal(isStopped, false);
  gate.resolve();
  await stopping;
  await bench.add(10);
  await bench.pass(60_000);
  assert.equal(bench.claims, 1);
  assert.deepEqual(bench.times(), []);
});

test("a timer that was not started can be stopped", async () => {
  const bench = new Bench();
  await bench.timers.stop();
  bench.timers.start();
  assert.deepEqual(bench.times(), []);
});

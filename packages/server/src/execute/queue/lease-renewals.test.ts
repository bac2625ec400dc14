import assert from "node:assert/strict";
import { test } from "node:test";
import type { EntryNo, EnvironmentId, LeaseId } from "@inlet/protocol";
import type { ClaimedEntry } from "../../store/contract/index.ts";
import { LeaseRenewals } from "./lease-renewals.ts";

const LEASE_MS = 10_000;
/** Renewals are a quarter of a lease apart. */
const INTERVAL_MS = 2_500;

interface Renewal {
  names: string[];
  until: number;
  /** The store answers that these were renewed. */
  answer(names: readonly string[]): Promise<void>;
  fail(): Promise<void>;
}

/** The store answers when the test says so, and time passes when the test lets it. */
class Bench {
  readonly held: ClaimedEntry[] = [];
  readonly renewals: Renewal[] = [];
  readonly dropped: string[] = [];
  now = 0;
  #alarm: { at: number; work: () => void } | null = null;

  constructor(...names: readonly string[]) {
    for (const name of names) this.hold(name);
    const renewals = new LeaseRenewals({
      store: {
        queueRenew: ({ entries, until }) =>
          new Promise((resolve, reject) => {
            this.renewals.push({
              names: entries.map(({ leaseId }) => leaseId),
              until,
              answer: (renewed) => settled(() => resolve(new Set(renewed as readonly LeaseId[]))),
              fail: () => settled(() => reject(new Error("the store is away"))),
            });
          }),
        storeDatabaseOf: (environmentId) => environmentId,
      },
      leaseMs: LEASE_MS,
      held: () => this.held.filter(({ leaseId }) => !this.dropped.includes(leaseId)),
      drop: (lost) => this.dropped.push(...lost),
      clock: {
        now: () => this.now,
        after: (delayMs, work) => {
          this.#alarm = { at: this.now + delayMs, work };
          return () => (this.#alarm = null);
        },
      },
    });
    renewals.start();
  }

  hold(leaseId: string, environmentId = 1): void {
    const entry = { leaseId, environmentId, no: this.held.length, leasedUntil: this.now + LEASE_MS };
    this.held.push(entry as unknown as ClaimedEntry & { no: EntryNo; environmentId: EnvironmentId });
  }

  /** A moment later than the time at which the next renewal is due, as timers are. */
  passInterval(): void {
    this.now += INTERVAL_MS + 1;
    const due = this.#alarm;
    if (due && due.at <= this.now) due.work();
  }
}

async function settled(act: () => void): Promise<void> {
  act();
  await new Promise(setImmediate);
}

test("a lease that is renewed lasts on", async () => {
  const bench = new Bench("a");
  for (let count = 0; count < 10; count++) {
    bench.passInterval();
    await bench.renewals.at(-1)?.answer(["a"]);
  }
  assert.equal(bench.renewals.length, 10);
  assert.deepEqual(bench.dropped, []);
});

test("a lease that another node has is dropped", async () => {
  const bench = new Bench("a", "b");
  bench.passInterval();
  await bench.renewals[0]?.answer(["b"]);
  assert.deepEqual(bench.dropped, ["a"]);
});

test("a lease that cannot be renewed is dropped before it expires", async () => {
  const bench = new Bench("a");
  while (bench.dropped.length === 0) {
    bench.passInterval();
    await bench.renewals.at(-1)?.fail();
  }
  assert.ok(bench.now < LEASE_MS, `dropped after ${bench.now} ms`);
  assert.equal(bench.renewals.length, 3);
});

test("a lease is dropped before it expires, however long the store takes to answer", async () => {
  const bench = new Bench("a");
  while (bench.dropped.length === 0 && bench.now < 2 * LEASE_MS) bench.passInterval();
  assert.deepEqual(bench.dropped, ["a"]);
  assert.ok(bench.now < LEASE_MS, `dropped after ${bench.now} ms`);
  assert.equal(bench.renewals.length, 1, "one renewal at a time");
});

test("leases of a database are renewed while another one does not answer", async () => {
  const bench = new Bench("a");
  bench.hold("b", 2);
  for (let count = 0; count < 4; count++) {
    bench.passInterval();
    for (const { names, answer } of bench.renewals) if (names.includes("b")) await answer(["b"]);
  }
  assert.equal(bench.renewals.filter(({ names }) => names.includes("b")).length, 4);
  assert.deepEqual(bench.dropped, ["a"]);
});

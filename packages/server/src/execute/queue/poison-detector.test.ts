import assert from "node:assert/strict";
import { test } from "node:test";
import { type ClaimedEntry, NO_PROBES } from "../../store/contract/index.ts";
import type { Clock } from "../clock.ts";
import { PoisonDetector } from "./poison-detector.ts";

function entry(changes: Partial<ClaimedEntry>): ClaimedEntry {
  return { no: 1, kind: "call", lane: "app:1", claims: 4, probes: NO_PROBES, ...changes } as ClaimedEntry;
}

const settled = async () => {
  for (let turn = 0; turn < 3; turn++) await new Promise((resolve) => setImmediate(resolve));
};

/** Probes that are open, by entry; time passes when the test says so. */
class Probes {
  readonly open: unknown[] = [];
  readonly begun: string[] = [];
  readonly #ends = new Map<string, () => void>();
  #alarms: (() => void)[] = [];
  readonly #clock: Clock = {
    now: () => 0,
    after: (_delayMs, work) => {
      this.#alarms.push(work);
      return () => (this.#alarms = this.#alarms.filter((other) => other !== work));
    },
  };
  readonly detector = new PoisonDetector({
    begin: async ({ no }) => void this.open.push(no),
    clear: async ({ no }) => void this.open.splice(this.open.indexOf(no), 1),
    clock: this.#clock,
  });

  watch(no: number, changes: Partial<ClaimedEntry> = {}): Promise<string> {
    return this.detector.guard(entry({ no: no as ClaimedEntry["no"], ...changes }), "calling", () => {
      this.begun.push(String(no));
      return new Promise((resolve) => this.#ends.set(String(no), () => resolve(`done ${no}`)));
    });
  }

  async end(no: number): Promise<void> {
    this.#ends.get(String(no))?.();
    await settled();
  }

  async passProbeTime(): Promise<void> {
    for (const alarm of this.#alarms.splice(0)) alarm();
    await settled();
  }
}

test("an entry is poison only after several deaths doing the same", () => {
  const { detector } = new Probes();
  assert.deepEqual(
    [0, 4, 5].map((calling) => detector.isPoison(entry({ claims: 50, probes: { calling, concluding: 4 } }))),
    [false, false, true],
  );
  assert.ok(detector.isPoison(entry({ probes: { calling: 0, concluding: 5 } })));
});

test("an entry that few deaths were seen by is not probed", async () => {
  const probed = new Probes();
  const working = probed.watch(1, { claims: 3 });
  await settled();
  assert.deepEqual([probed.open, probed.begun], [[], ["1"]]);
  await probed.end(1);
  assert.equal(await working, "done 1");
});

test("entries are probed one after the other, counted before they begin and cleared when they are done", async () => {
  const probed = new Probes();
  const both = [probed.watch(1), probed.watch(2)];
  await settled();
  assert.deepEqual([probed.open, probed.begun], [[1], ["1"]]);
  await probed.end(1);
  assert.deepEqual([probed.open, probed.begun], [[2], ["1", "2"]]);
  await probed.end(2);
  assert.deepEqual([await Promise.all(both), probed.open], [["done 1", "done 2"], []]);
});

test("the one with most probes goes first", async () => {
  const probed = new Probes();
  const both = [probed.watch(1), probed.watch(2, { probes: { calling: 1, concluding: 0 } })];
  await settled();
  assert.deepEqual(probed.begun, ["2"]);
  await probed.end(2);
  await probed.end(1);
  await Promise.all(both);
});

test("one that takes long is cleared, goes on, and does not hold up the next", async () => {
  const probed = new Probes();
  const both = [probed.watch(1), probed.watch(2)];
  await settled();
  await probed.passProbeTime();
  assert.deepEqual([probed.open, probed.begun], [[2], ["1", "2"]]);
  await probed.end(2);
  await probed.end(1);
  assert.deepEqual([await Promise.all(both), probed.open], [["done 1", "done 2"], []], "and is not cleared twice");
});

test("one that fails is cleared too: the node lives", async () => {
  const probed = new Probes();
  await assert.rejects(
    probed.detector.guard(entry({}), "concluding", () => Promise.reject(new Error("no"))),
    /no/,
  );
  assert.deepEqual(probed.open, []);
});

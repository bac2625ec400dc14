import assert from "node:assert/strict";
import { test } from "node:test";
import type { ClaimedEntry } from "../../store/contract/index.ts";
import type { Clock } from "../clock.ts";
import { Suspects } from "./suspects.ts";

function entry(changes: Partial<ClaimedEntry>): ClaimedEntry {
  return { no: 1, kind: "call", lane: "app:1", claims: 4, trials: 0, ...changes } as ClaimedEntry;
}

const settled = () => new Promise((resolve) => setImmediate(resolve));

/** Trials that are open, by entry; time passes when the test says so. */
class Court {
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
  readonly suspects = new Suspects({
    begin: async ({ no }) => void this.open.push(no),
    acquit: async ({ no }) => void this.open.splice(this.open.indexOf(no), 1),
    clock: this.#clock,
  });

  watch(no: number, changes: Partial<ClaimedEntry> = {}): Promise<string> {
    return this.suspects.watch(entry({ no: no as ClaimedEntry["no"], ...changes }), () => {
      this.begun.push(String(no));
      return new Promise((resolve) => this.#ends.set(String(no), () => resolve(`done ${no}`)));
    });
  }

  async end(no: number): Promise<void> {
    this.#ends.get(String(no))?.();
    await settled();
  }

  async passTrialTime(): Promise<void> {
    for (const alarm of this.#alarms.splice(0)) alarm();
    await settled();
  }
}

test("an entry is guilty only after several deaths during its trials", () => {
  const { suspects } = new Court();
  assert.deepEqual(
    [0, 4, 5].map((trials) => suspects.isGuilty(entry({ claims: 50, trials }))),
    [false, false, true],
  );
});

test("an entry that few deaths were seen by is not tried", async () => {
  const court = new Court();
  const working = court.watch(1, { claims: 3 });
  await settled();
  assert.deepEqual([court.open, court.begun], [[], ["1"]]);
  await court.end(1);
  assert.equal(await working, "done 1");
});

test("suspects are tried one after the other, noted before they begin and acquitted when they are done", async () => {
  const court = new Court();
  const both = [court.watch(1), court.watch(2)];
  await settled();
  assert.deepEqual([court.open, court.begun], [[1], ["1"]]);
  await court.end(1);
  assert.deepEqual([court.open, court.begun], [[2], ["1", "2"]]);
  await court.end(2);
  assert.deepEqual([await Promise.all(both), court.open], [["done 1", "done 2"], []]);
});

test("one that takes long is acquitted, goes on, and does not hold up the next", async () => {
  const court = new Court();
  const both = [court.watch(1), court.watch(2)];
  await settled();
  await court.passTrialTime();
  assert.deepEqual([court.open, court.begun], [[2], ["1", "2"]]);
  await court.end(2);
  await court.end(1);
  assert.deepEqual([await Promise.all(both), court.open], [["done 1", "done 2"], []], "and is not acquitted twice");
});

test("one that fails is acquitted too: the node lives", async () => {
  const court = new Court();
  await assert.rejects(
    court.suspects.watch(entry({}), () => Promise.reject(new Error("no"))),
    /no/,
  );
  assert.deepEqual(court.open, []);
});

import assert from "node:assert/strict";
import { test } from "node:test";
import { type ClaimedEntry, NO_TRIALS } from "../../store/contract/index.ts";
import type { Clock } from "../clock.ts";
import { Suspects } from "./suspects.ts";

function entry(changes: Partial<ClaimedEntry>): ClaimedEntry {
  return { no: 1, kind: "call", lane: "app:1", claims: 4, trials: NO_TRIALS, ...changes } as ClaimedEntry;
}

const settled = async () => {
  for (let turn = 0; turn < 3; turn++) await new Promise((resolve) => setImmediate(resolve));
};

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
    return this.suspects.watch(entry({ no: no as ClaimedEntry["no"], ...changes }), "calling", () => {
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

test("an entry is guilty only after several deaths doing the same", () => {
  const { suspects } = new Court();
  assert.deepEqual(
    [0, 4, 5].map((calling) => suspects.isGuilty(entry({ claims: 50, trials: { calling, concluding: 4 } }))),
    [false, false, true],
  );
  assert.ok(suspects.isGuilty(entry({ trials: { calling: 0, concluding: 5 } })));
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

test("the one with most trials goes first", async () => {
  const court = new Court();
  const both = [court.watch(1), court.watch(2, { trials: { calling: 1, concluding: 0 } })];
  await settled();
  assert.deepEqual(court.begun, ["2"]);
  await court.end(2);
  await court.end(1);
  await Promise.all(both);
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
    court.suspects.watch(entry({}), "concluding", () => Promise.reject(new Error("no"))),
    /no/,
  );
  assert.deepEqual(court.open, []);
});

import assert from "node:assert/strict";
import { test } from "node:test";
import { pino } from "pino";
import { Sweeper } from "./sweeper.ts";

const log = pino({ level: "silent" });

test("a sweep goes on until a transaction removes less than it might", async () => {
  let left = 1_200;
  const sweeper = new Sweeper({
    what: "things",
    log,
    removeSome: async (limit) => {
      const removed = Math.min(limit, left);
      left -= removed;
      return removed;
    },
  });
  assert.equal(await sweeper.sweep(), 1_200);
  assert.equal(left, 0);
});

test("a sweep that fails is tried again, and stopping waits for one under way", async () => {
  let tries = 0;
  let finish = () => {};
  const second = new Promise<void>((resolve) => {
    finish = resolve;
  });
  const sweeper = new Sweeper({
    what: "things",
    log,
    everyMs: 1,
    removeSome: async () => {
      if (++tries === 1) throw new Error("the store is not there");
      finish();
      return 0;
    },
  });
  sweeper.start();
  await second;
  await sweeper.stop();
  const after = tries;
  await sweeps(20);
  assert.equal(tries, after);
});

test("while a sweep takes long, its leadership is renewed, and once that is lost, the sweep ends", async () => {
  const REFUSED = 3;
  let takes = 0;
  let took = Promise.withResolvers<void>();
  const leadership = {
    async take() {
      took.resolve();
      return ++takes < REFUSED;
    },
    giveUp: async () => undefined,
  };
  const seen: boolean[] = [];
  const { promise: ended, resolve: end } = Promise.withResolvers<void>();
  const sweeper = new Sweeper({
    what: "things",
    log,
    leadership,
    // Longer than a busy machine stands still.
    everyMs: 2_000,
    async removeSome(limit, leads) {
      while (takes < REFUSED) {
        seen.push(leads());
        took = Promise.withResolvers();
        await took.promise;
      }
      await new Promise(setImmediate);
      seen.push(leads());
      end();
      return limit;
    },
  });
  sweeper.start();
  sweeper.wake();
  await ended;
  await sweeper.stop();
  assert.deepEqual(seen, [true, true, false]);
});

/** Resolves when another sweeper has swept that often. */
async function sweeps(count: number): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  let left = count;
  const removeSome = async () => {
    if (--left === 0) resolve();
    return 0;
  };
  const other = new Sweeper({ what: "others", log, everyMs: 1, removeSome });
  other.start();
  await promise;
  await other.stop();
}

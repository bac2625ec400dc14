import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
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

const EVERY_MS = 2_000;
const RENEWED_MS = 1_000;

/** One sweep of a node with a leadership, which says after each of the steps whether it still leads. */
async function leadsAfter(t: TestContext, grants: readonly boolean[], steps: readonly number[]): Promise<boolean[]> {
  let now = 0;
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const left = [...grants];
  const seen: boolean[] = [];
  const { promise: ended, resolve: end } = Promise.withResolvers<void>();
  const take = async (_what: string, forMs: number) => (left.shift() ? now + forMs : null);
  const leadership = { take, giveUp: async () => undefined, now: () => now };
  async function removeSome(limit: number, mayGoOn: () => boolean): Promise<number> {
    for (const ms of steps) {
      now += ms;
      t.mock.timers.tick(ms);
      await new Promise(setImmediate);
      seen.push(mayGoOn());
    }
    end();
    return limit;
  }
  const sweeper = new Sweeper({ what: "things", log, leadership, everyMs: EVERY_MS, removeSome });
  sweeper.start();
  sweeper.wake();
  await ended;
  // Had it gone on, there would be more.
  await sweeper.stop();
  return seen;
}

test("while a sweep takes long, its leadership is renewed, and once that is lost, the sweep ends", async (t) =>
  assert.deepEqual(await leadsAfter(t, [true, true, true, false], [500, 500, RENEWED_MS, RENEWED_MS]), [true, true, true, false]));

test("a sweep that stood still for longer than its leadership ends, whoever has it now", async (t) =>
  assert.deepEqual(await leadsAfter(t, [true, true, true], [RENEWED_MS, EVERY_MS * 2, RENEWED_MS]), [true, false, false]));

test("a sweep that is to stop learns it, however much is left", async () => {
  const seen: boolean[] = [];
  const sweeper: Sweeper = new Sweeper({
    what: "things",
    log,
    removeSome: async (limit, mayGoOn) => {
      seen.push(mayGoOn());
      void sweeper.stop();
      seen.push(mayGoOn());
      return limit;
    },
  });
  await sweeper.sweep();
  assert.deepEqual(seen, [true, false]);
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

import assert from "node:assert/strict";
import { test } from "node:test";
import { pino } from "pino";
import { EventFollower } from "./event-follower.ts";

const QUICK = { what: "something", everyMs: 5, pollsMax: 1, askedMs: 60_000, log: pino({ level: "silent" }) };

function followerOf(isLeader: () => boolean, poll: () => Promise<boolean>) {
  const listeners: (() => void)[] = [];
  const store = {
    eventWatch: (listener: () => void) => {
      listeners.push(listener);
      return () => void listeners.pop();
    },
    leadershipTake: async () => isLeader(),
    storeNode: "node",
    storeNow: () => Date.now(),
  };
  return { follower: new EventFollower({ ...QUICK, store: store as never, poll }), listeners };
}

test("a node without the leadership looks only when it is asked", async (t) => {
  t.mock.timers.enable({ apis: ["setInterval"] });
  let looks = 0;
  let isLeader = false;
  const { follower, listeners } = followerOf(
    () => isLeader,
    async () => {
      looks++;
      return false;
    },
  );
  const pass = async () => {
    t.mock.timers.tick(QUICK.everyMs);
    for (let turn = 0; turn < 10; turn++) await Promise.resolve();
  };
  follower.start();
  await pass();
  assert.equal(looks, 0);
  await follower.catchUp();
  assert.equal(looks, 1);
  isLeader = true;
  await pass();
  assert.equal(looks, 1, "nothing has come in since");
  listeners[0]?.();
  await pass();
  assert.equal(looks, 2);
  await follower.stop();
  assert.equal(listeners.length, 0);
  await follower.catchUp();
  assert.equal(looks, 2, "it has stopped");
});

test("a poll that fails is made again", async () => {
  let looks = 0;
  const { follower } = followerOf(
    () => true,
    async () => {
      if (++looks === 1) throw new Error("the store is away");
      return looks < 3;
    },
  );
  await assert.rejects(follower.catchUp(), /away/);
  await follower.catchUp();
  assert.equal(looks, 3);
});

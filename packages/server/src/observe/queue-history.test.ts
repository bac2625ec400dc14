import assert from "node:assert/strict";
import { test } from "node:test";
import type { EnvironmentId } from "@inlet/protocol";
import { pino } from "pino";
import type { QueueDepth } from "../store/contract/index.ts";
import { QueueHistory } from "./queue-history.ts";

const [HERE, THERE] = [1 as EnvironmentId, 2 as EnvironmentId];
const HOUR_MS = 3_600_000;

function makeHistory() {
  const world = { now: 0, depths: [] as QueueDepth[], here: new Map<EnvironmentId, number>() };
  const history = new QueueHistory({
    views: { queueDepths: async () => world.depths },
    waitingSince: () => world.here,
    log: pino({ level: "silent" }),
    now: () => world.now,
  });
  async function sampleAt(now: number, waiting: number, ageMs: number | null = null): Promise<void> {
    world.now = now;
    const oldestDueAt = ageMs === null ? null : now - ageMs;
    world.depths = waiting > 0 ? [{ environmentId: HERE, waiting, oldestDueAt }] : [];
    await history.sample();
  }
  return { history, world, sampleAt };
}

test("a slot keeps the highest of what was seen in it; where nothing waits, zeros", async () => {
  const { history, sampleAt } = makeHistory();
  await sampleAt(60_000, 3, 500);
  await sampleAt(70_000, 9);
  await sampleAt(80_000, 1, 4_000);
  await sampleAt(90_000, 0);
  assert.deepEqual(history.points(HERE, 0, HOUR_MS), [
    { at: 60_000, waiting: 9, oldestAgeMs: 4_000 },
    { at: 90_000, waiting: 0, oldestAgeMs: 0 },
  ]);
  assert.deepEqual(
    history.points(THERE, 0, HOUR_MS).map(({ waiting }) => waiting),
    [0, 0],
  );
  assert.deepEqual(
    history.points(HERE, 95_000, HOUR_MS).map(({ at }) => at),
    [90_000],
    "the slot that was open at `from` belongs to it",
  );
});

test("six hours are kept, in at most 180 points that miss no peak", async () => {
  const { history, sampleAt } = makeHistory();
  for (let n = 0; n < 900; n++) await sampleAt(n * 30_000, n === 500 ? 77 : 1);
  const points = history.points(HERE, 0, 900 * 30_000);
  assert.deepEqual([points.length, points[0]?.at], [180, 180 * 30_000]);
  assert.equal(Math.max(...points.map(({ waiting }) => waiting)), 77);
  assert.equal(history.points(HERE, 880 * 30_000, 900 * 30_000).length, 20);
});

test("a clock that is set back starts no second line of time", async () => {
  const { history, sampleAt } = makeHistory();
  await sampleAt(60_000, 1);
  await sampleAt(30_000, 5);
  assert.deepEqual(history.points(HERE, 0, HOUR_MS), [{ at: 60_000, waiting: 5, oldestAgeMs: 0 }]);
});

test("what this node has taken and not begun waits as well", async () => {
  const { history, world, sampleAt } = makeHistory();
  world.here.set(HERE, 50_000).set(THERE, 10_000);
  await sampleAt(60_000, 2);
  await sampleAt(95_000, 2, 60_000);
  assert.deepEqual(
    history.points(HERE, 0, HOUR_MS).map(({ oldestAgeMs }) => oldestAgeMs),
    [10_000, 60_000],
  );
});

test("a sample that took long delays the next one; one that failed delays it less", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const world = { clock: 0, takesMs: 30_000, fails: true, queries: 0 };
  t.mock.method(performance, "now", () => world.clock);
  const queueDepths = async () => {
    world.queries++;
    world.clock += world.takesMs;
    if (world.fails) throw new Error("the query took too long");
    return [];
  };
  const log = pino({ level: "silent" });
  const history = new QueueHistory({ views: { queueDepths }, waitingSince: () => new Map(), log, now: () => 0 });
  t.after(() => history.stop());
  const queriesAfter = async (ms: number) => {
    t.mock.timers.tick(ms);
    // The sample ends, and the timer of the next one is set.
    await new Promise(setImmediate);
    return world.queries;
  };
  history.start();
  assert.equal(await queriesAfter(1), 1);
  Object.assign(world, { takesMs: 1_000, fails: false });
  assert.equal(await queriesAfter(119_999), 1);
  assert.equal(await queriesAfter(1), 2, "four times its duration after a failure");
  assert.equal(await queriesAfter(99_999), 2);
  assert.equal(await queriesAfter(1), 3, "100 times its duration after a success");
});

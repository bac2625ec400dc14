import assert from "node:assert/strict";
import { test } from "node:test";
import { pino } from "pino";
import { DiskGuard } from "./disk-guard.ts";
import { isOverBudget } from "./keep-disk-budget.ts";

const MB = 1_000_000;

function guardOf(sizes: { file: number; used?: number; log?: number }, budgetBytes = 100 * MB) {
  const store = {
    retentionFileBytes: async () => sizes.file + (sizes.log ?? 0),
    retentionUsedBytes: async () => (sizes.used ?? sizes.file) + (sizes.log ?? 0),
    retentionReclaim: async () => {
      sizes.log = 0;
      return true;
    },
  };
  return new DiskGuard({ store, budgetBytes, log: pino({ level: "silent" }) });
}

/** Requests of a megabyte until one is refused. */
function acceptedBy(guard: DiskGuard): number {
  for (let count = 0; ; count++) if (guard.reserve(MB)) return count;
}

test("requests are refused before they could pass the limit, and accepted again once there is room", async () => {
  const sizes = { file: 80 * MB };
  const guard = guardOf(sizes);
  await guard.measure();
  // Of 25 MB of room, each takes two and a half for the log and the file.
  assert.equal(acceptedBy(guard), 9);
  assert.equal(guard.reserve(MB)?.code, "disk_full");
  sizes.file = 114 * MB;
  await guard.measure();
  assert.equal(guard.reserve(MB)?.code, "disk_full");
  sizes.file = 60 * MB;
  // What was accepted between the last two measurements may not have been written yet.
  await guard.measure();
  await guard.measure();
  assert.equal(acceptedBy(guard), 17);
});

test("a request that the last tenth of the budget has no room for makes the oldest go", async () => {
  const used = 89 * MB;
  const guard = guardOf({ file: used });
  await guard.measure();
  assert.equal(isOverBudget(used, 100 * MB, guard.isRefusing), false);
  assert.equal(guard.reserve(7 * MB)?.code, "disk_full");
  assert.equal(isOverBudget(used, 100 * MB, guard.isRefusing), true);
  assert.equal(isOverBudget(79 * MB, 100 * MB, guard.isRefusing), false, "not more than brings room");
});

test("what is accepted asks for a measurement before the room is used up", async () => {
  const sizes = { file: 80 * MB };
  const guard = guardOf(sizes);
  const seen: number[] = [];
  guard.whenUsed((used) => seen.push(used));
  await guard.measure();
  for (let n = 0; n < 5; n++) assert.equal(guard.reserve(MB), null);
  sizes.file = 90 * MB;
  await guard.measure();
  assert.deepEqual(seen, [80 * MB, 90 * MB], "the measurement was under way: nobody asked for a second");
});

test("the log is given back before anything is refused; in a file that was too large before, the data counts", async () => {
  const sizes = { file: 90 * MB, log: 40 * MB };
  const guard = guardOf(sizes);
  await guard.measure();
  assert.equal(sizes.log, 0);
  assert.equal(guard.reserve(MB), null);
  const shrunk = guardOf({ file: 900 * MB, used: 70 * MB });
  await shrunk.measure();
  assert.equal(acceptedBy(shrunk), 13);
});

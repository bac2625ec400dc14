/** A soak can fail: its checks see growth, lost order and repeated steps. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { checkGrowth } from "./check-growth.ts";
import type { Sample } from "./measure.ts";
import { stepFaults } from "./verify.ts";

function samples(change: (i: number) => Partial<Sample>): Sample[] {
  return Array.from({ length: 40 }, (_, i) => ({ at: i, memoryMib: 150, handles: 40, diskMib: 100, lagSeconds: 0.1, ...change(i) }));
}

test("steady figures pass, and so does noise", () => {
  assert.deepEqual(
    checkGrowth(
      samples((i) => ({ memoryMib: 150 + (i % 7) * 4, handles: 40 + (i % 5) })),
      { checkDisk: true },
    ),
    [],
  );
});

test("what grows is named", () => {
  const growing = samples((i) => ({ memoryMib: 150 + i * 8, handles: 40 + i * 3, diskMib: 100 + i * 6, lagSeconds: i }));
  assert.deepEqual(
    checkGrowth(growing, { checkDisk: true }).map((text) => text.split(" grew")[0]),
    ["memory (MiB)", "file handles", "disk (MiB)", "lag (s)"],
  );
  assert.equal(checkGrowth(growing, { checkDisk: false }).length, 3);
  assert.match(checkGrowth(growing.slice(0, 3), { checkDisk: true })[0] ?? "", /only 2 samples/);
});

test("a step may be repeated by a kill that met it, and never after a later one began", () => {
  const line = (step: number, at: number) => ({ key: "a", step, at });
  assert.deepEqual(stepFaults([line(1, 0), line(2, 10_000), line(3, 20_000)], []), []);
  assert.deepEqual(stepFaults([line(1, 0), line(1, 40_000), line(2, 50_000)], [5_000]), []);
  assert.match(stepFaults([line(1, 0), line(1, 10), line(2, 20)], [])[0] ?? "", /ran twice, and no kill met it/);
  assert.match(stepFaults([line(1, 0), line(2, 10), line(1, 20)], [15])[0] ?? "", /step 1 of a ran again after step 2/);
});

/**
 * How many bytes of a piece of work survive V8's quick collections although the work is done. For programs that are run with
 * `--expose-gc`, in a process of their own: the hooks of a test runner keep promises alive.
 */

import { getHeapSpaceStatistics } from "node:v8";

const AT_ONCE = 10;
const WARM_ROUNDS = 20;
/** Odd, for the median: a full collection, which V8 makes at any time, spoils a round. */
const ROUNDS = 41;

export async function bytesGrownOld(work: (n: number) => Promise<unknown>): Promise<number> {
  const workMany = async () => {
    await Promise.all(Array.from({ length: AT_ONCE }, (_, n) => work(n)));
  };
  for (let round = 0; round < WARM_ROUNDS; round++) await workMany();

  // Work in progress grows old here. What it still refers to when it is done would be no garbage for a quick collection.
  const inProgress = workMany();
  await collectYoung();
  await inProgress;

  const grown: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const before = oldBytes();
    await workMany();
    await collectYoung();
    grown.push(oldBytes() - before);
  }
  const median = grown.sort((one, other) => one - other)[(ROUNDS - 1) / 2] as number;
  return Math.round(median / AT_ONCE);
}

/** What survives two quick collections grows old. In a turn of its own: no function still holds what it awaited. */
async function collectYoung(): Promise<void> {
  await new Promise((resolve) => setImmediate(resolve));
  globalThis.gc?.({ type: "minor" });
  globalThis.gc?.({ type: "minor" });
}

function oldBytes(): number {
  return getHeapSpaceStatistics().find(({ space_name }) => space_name === "old_space")?.space_used_size ?? 0;
}

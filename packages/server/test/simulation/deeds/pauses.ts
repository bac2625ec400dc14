/** Functions that are paused for a while. */

import type { Random } from "../random.ts";
import { fullId, type SimFunction } from "../scenario.ts";
import { now, pass } from "../virtual-time.ts";
import type { SimPause } from "./deeds.ts";
import { type DeedParts, SPAN_MS, untilDone } from "./doing.ts";

export function generatePauses(random: Random, functions: readonly SimFunction[]): SimPause[] {
  return Array.from({ length: random.pick([0, 0, 1, 3]) }, () => ({
    atMs: random.int(1, SPAN_MS),
    fn: random.pick(functions).id,
    forMs: random.pick([5, 2_000, 20_000]),
  }));
}

/** Tries until it is known to be paused, and later to be resumed. */
export async function pauseFunction(parts: DeedParts, { fn, forMs }: SimPause): Promise<void> {
  const { scenario, journal } = parts;
  const functionId = fullId(scenario.functions.find(({ id }) => id === fn) ?? { sdk: "own", id: fn });
  const pause = (isPaused: boolean) =>
    untilDone(parts, async ({ functions: { registry }, environment }) => {
      const isKnown = await (isPaused ? registry.pause(environment, functionId) : registry.resume(environment, functionId, "keep"));
      if (!isKnown) throw new Error(`there is no function ${functionId}`);
    });
  await pause(true);
  const pausedAt = now();
  await pass(forMs);
  journal.pauses.push({ functionId, pausedAt, resumedAt: now() });
  await pause(false);
}

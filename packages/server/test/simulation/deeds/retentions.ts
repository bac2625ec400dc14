/** From some time on, old events and runs are removed. */

import type { Random } from "../random.ts";
import type { SimRetention } from "./deeds.ts";
import { type DeedParts, SPAN_MS, untilDone } from "./doing.ts";

/** An event is kept for longer than a sender repeats it: what would be repeated later would be another event. */
export function generateRetentions(random: Random): SimRetention[] {
  if (random.chance(0.65)) return [];
  const eventsMs = random.pick([SPAN_MS, 2 * SPAN_MS]);
  return [{ atMs: random.int(1, SPAN_MS), eventsMs, runsMs: random.pick([10_000, SPAN_MS, 2 * SPAN_MS]) }];
}

export async function retain(parts: DeedParts, { eventsMs, runsMs }: SimRetention): Promise<void> {
  await untilDone(parts, async ({ store, directory, environment }) => {
    await store.environmentUpdate({ id: environment.id, retention: { eventsMs, runsMs } });
    await directory.refresh();
  });
}

/** The environment is archived for a while. Meanwhile, no events are accepted. */

import type { Random } from "../random.ts";
import { now, pass } from "../virtual-time.ts";
import type { SimArchive } from "./deeds.ts";
import { type DeedParts, SPAN_MS, untilDone } from "./doing.ts";

export function generateArchives(random: Random): SimArchive[] {
  if (random.chance(0.7)) return [];
  return [{ atMs: random.int(1, SPAN_MS), forMs: random.pick([5, 2_000, 20_000]) }];
}

/** As a pause, for all functions. */
export async function archiveEnvironment(parts: DeedParts, { forMs }: SimArchive): Promise<void> {
  const archive = (archivedAt: number | null) =>
    untilDone(parts, async ({ store, directory, environment }) => {
      await store.environmentUpdate({ id: environment.id, archivedAt });
      await directory.refresh();
    });
  await archive(now());
  const pausedAt = now();
  await pass(forMs);
  parts.journal.pauses.push({ functionId: null, pausedAt, resumedAt: now() });
  await archive(null);
}

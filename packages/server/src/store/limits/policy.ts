/** How many slots of limits are free. */

import type { LimitRule } from "../contract/index.ts";

/** Used instead of the number of an entry: the run itself holds the slot until it has ended. */
export const OF_RUN = 0;

/** By the id of the limit. A limit that is named twice is one limit, and the lower number applies. */
export function freeByLimit(rules: readonly LimitRule[], usedOf: (id: string) => number): Map<string, number> {
  const free = new Map<string, number>();
  for (const { id, cap } of rules) free.set(id, Math.min(free.get(id) ?? cap, Math.max(cap - usedOf(id), 0)));
  return free;
}

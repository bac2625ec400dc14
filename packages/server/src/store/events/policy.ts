/** Which names a filter with a wildcard stands for, and which events of a batch are the same. */

import type { NewEvent } from "./contract.ts";

/** If a wildcard matches more names than this, the whole environment is filtered instead. */
const MERGED_NAMES_MAX = 50;

/** How many names from the prefix on have to be read, in order. */
export const NAMES_READ = MERGED_NAMES_MAX + 1;

/** The names that begin with the prefix; null if they are too many to be merged. */
export function namesToMerge(read: readonly { name_id: number; name: string }[], prefix: string): number[] | null {
  const matching = read.filter(({ name }) => name.startsWith(prefix));
  return matching.length > MERGED_NAMES_MAX ? null : matching.map(({ name_id }) => name_id);
}

/** How many events would be stored if none of them was seen before: those with the same dedup id, or the same id of the sender, count once. */
export function countDistinct(events: readonly NewEvent[], idsFromSender: boolean): number {
  const dedupIds = new Set<string>();
  const ids = new Set<string>();
  let count = 0;
  for (const { id, dedupId } of events) {
    if ((dedupId !== null && dedupIds.has(dedupId)) || (idsFromSender && ids.has(id))) continue;
    if (dedupId !== null) dedupIds.add(dedupId);
    ids.add(id);
    count++;
  }
  return count;
}

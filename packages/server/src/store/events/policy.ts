/** Which names a filter with a wildcard stands for. */

/** If a wildcard matches more names than this, the whole environment is filtered instead. */
const MERGED_NAMES_MAX = 50;

/** How many names from the prefix on have to be read, in order. */
export const NAMES_READ = MERGED_NAMES_MAX + 1;

/** The names that begin with the prefix; null if they are too many to be merged. */
export function namesToMerge(read: readonly { name_id: number; name: string }[], prefix: string): number[] | null {
  const matching = read.filter(({ name }) => name.startsWith(prefix));
  return matching.length > MERGED_NAMES_MAX ? null : matching.map(({ name_id }) => name_id);
}

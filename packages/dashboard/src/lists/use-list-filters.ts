/**
 * The filters of a list, from those in its address. A named time range is converted once: it would otherwise be another one with every minute,
 * and the list another list, loaded anew and shown from its top.
 */

import { useMemo } from "react";

export function useListFilters<Search extends object, Converted>(
  env: string,
  search: Search,
  convert: (search: Search) => Converted,
): Converted {
  const key = JSON.stringify([env, search]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the key contains the whole search
  return useMemo(() => convert(search), [key]);
}

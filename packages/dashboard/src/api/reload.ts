/**
 * Loads again what a change has made stale. A first load that is under way may have been answered before the change: it is dropped, which
 * invalidating alone does only for later loads.
 */

import type { QueryClient, QueryKey } from "@tanstack/react-query";

export async function reload(queries: QueryClient, queryKey: QueryKey): Promise<void> {
  await queries.cancelQueries({ queryKey, predicate: ({ state }) => state.data === undefined });
  await queries.invalidateQueries({ queryKey });
}

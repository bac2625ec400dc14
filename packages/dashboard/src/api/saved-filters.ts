/** Filters of lists that somebody saved for everybody who may see the environment. */

import { queryOptions } from "@tanstack/react-query";
import { call, callForAll } from "./client.ts";

export type FilteredList = "events" | "runs";

export interface SavedFilter {
  list: FilteredList;
  name: string;
  search: Record<string, unknown>;
  savedBy: string;
}

export const savedFiltersQuery = (env: string, list: FilteredList) =>
  queryOptions({
    queryKey: ["saved-filters", env, list],
    queryFn: () => callForAll<SavedFilter>("/saved-filters", { env, query: { list, limit: 100 } }),
  });

export function saveFilter(env: string, filter: Pick<SavedFilter, "list" | "name" | "search">): Promise<SavedFilter> {
  return call("/saved-filters", { method: "PUT", env, body: filter });
}

export function removeFilter(env: string, { list, name }: SavedFilter): Promise<unknown> {
  return call(`/saved-filters/${list}/${encodeURIComponent(name)}`, { method: "DELETE", env });
}

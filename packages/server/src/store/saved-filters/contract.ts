/**
 * Filters of lists that people saved under a name, for everybody who may see the environment. Their text is what somebody typed: it is
 * kept until somebody removes the filter, and no erasure looks into it.
 */

import type { EnvironmentId } from "@inlet/protocol";

export const FILTERED_LISTS = ["events", "runs"] as const;
export type FilteredList = (typeof FILTERED_LISTS)[number];

/** Of one list in one environment. */
export const SAVED_FILTERS_MAX = 100;

export interface SavedFilter {
  list: FilteredList;
  name: string;
  /** JSON text: the parameters of the list's page. */
  search: string;
  /** The name of the key or person. */
  savedBy: string;
  savedAt: number;
}

export interface SavedFilterStore {
  /** By list and name. */
  savedFilterList(params: { environmentId: EnvironmentId }): Promise<SavedFilter[]>;
  /** Replaces the filter of that name. False if the list has as many as it may have. */
  savedFilterSet(params: SavedFilter & { environmentId: EnvironmentId }): Promise<boolean>;
  /** False if there is none. */
  savedFilterDelete(params: { environmentId: EnvironmentId; list: FilteredList; name: string }): Promise<boolean>;
}

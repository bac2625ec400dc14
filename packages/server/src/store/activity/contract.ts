/**
 * Activity: in which parts of an hour a webhook, an event name or a function was active. Kept for weeks, longer than the events themselves, so
 * that a silence can be told from the usual rhythm.
 */

import type { EnvironmentId } from "@inlet/protocol";

/** Of an hour, each a bit of `parts`: few enough for one integer. */
export const PARTS_PER_HOUR = 30;
export const PART_MS = 3_600_000 / PARTS_PER_HOUR;

export type ActivityKind = "webhook" | "event" | "function";

/** What is active: the id of a webhook or function, or the name of an event. */
export interface ActivitySubject {
  environmentId: EnvironmentId;
  kind: ActivityKind;
  subject: string;
}

export interface ActiveHour {
  /** When the hour began. */
  at: number;
  /** Bit n is set if there was activity in the nth part of the hour. */
  parts: number;
  /** The latest activity in the hour. */
  lastAt: number;
}

/** An event name may end in `*`: then all names that begin so. */
export interface ActivityParams extends ActivitySubject {
  /** Hours that began at this time or later. */
  since: number;
}

export interface ActivityStore {
  /** Adds to the hours that are stored. */
  activityAdd(params: { hours: readonly (ActivitySubject & ActiveHour)[] }): Promise<void>;
  /** The latest activity; null if there is none. */
  activityLast(params: ActivityParams): Promise<number | null>;
  /** Oldest first; of a name with `*`, an hour comes once for each name. At most `limit`, the latest ones. */
  activityList(params: ActivityParams & { limit: number }): Promise<ActiveHour[]>;
  /** Removes at most `limit` hours that began at or before `until`. Returns how many. */
  activityExpireMany(params: { until: number; limit: number }): Promise<number>;
}

/** Event types: which names were seen in an environment, since when and how often. Counted in the background, not while events are stored. */

import type { EnvironmentId } from "@inlet/protocol";

export interface EventType {
  name: string;
  firstSeenAt: number;
  lastSeenAt: number;
  /** Events accepted in total. */
  count: number;
  /** Events received since the hour asked for. */
  countSince: number;
  /** The same by hour, oldest first, without empty hours; `at` is when the hour began. */
  hours: readonly { at: number; count: number }[];
}

export interface EventTypeListParams {
  environmentId: EnvironmentId;
  limit: number;
  /** Continue after this cursor. */
  after?: number;
  /** A time; its whole hour is included. */
  since: number;
}

export interface EventTypeUnseenParams {
  environmentId: EnvironmentId;
  /** Where the schemas of the environment are declared: itself, or the scope that branch environments share. */
  scopeId: EnvironmentId;
  limit: number;
  after?: string;
}

/** Settings of a name in an environment, whether or not such an event was ever seen. */
export interface EventTypeSettings {
  environmentId: EnvironmentId;
  name: string;
  /** How long its events are retained; null: as set for the environment. */
  retentionMs: number | null;
}

export interface EventTypeStore {
  /** Every setting of the installation. */
  eventTypeSettingsList(): Promise<EventTypeSettings[]>;
  /** Changes the fields given. */
  eventTypeSettingsPut(
    params: Pick<EventTypeSettings, "environmentId" | "name"> & { retentionMs?: number | null },
  ): Promise<EventTypeSettings>;
  /** Counts events committed since the last call, at most about `limit`. Returns true when none are left to count. */
  eventTypeCount(params: { limit: number }): Promise<boolean>;
  /** The name that was first seen most recently comes first. */
  eventTypeList(params: EventTypeListParams): Promise<{ types: EventType[]; next: number | null }>;
  /**
   * Names with a declared schema or description in `scopeId`, of which no event has been counted in the environment; by name, in the order of
   * their bytes. Continues after a name.
   */
  eventTypeUnseenList(params: EventTypeUnseenParams): Promise<string[]>;
  /** Null if no event of this name has been counted. */
  eventTypeGet(params: { environmentId: EnvironmentId; name: string; since: number }): Promise<EventType | null>;
  /** Removes at most `limit` hourly counts of hours that ended at or before `endedUntil`. Returns how many. Totals remain. */
  eventTypeHourExpireMany(params: { endedUntil: number; limit: number }): Promise<number>;
}

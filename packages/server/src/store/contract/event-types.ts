/** Event types: which names were seen in an environment, since when, how often. Counted behind the events, never in their way. */

import type { EnvironmentId } from "@inlet/protocol";

export interface EventType {
  name: string;
  firstSeenAt: number;
  lastSeenAt: number;
  /** Events accepted since the beginning. */
  count: number;
  /** Those received since the hour asked for. */
  countSince: number;
  /** These by the hour, oldest first, without hours in which none came; `at` is when the hour began. */
  hours: readonly { at: number; count: number }[];
}

export interface EventTypeListParams {
  environmentId: EnvironmentId;
  limit: number;
  /** Continue after this cursor. */
  after?: number;
  /** An instant; its whole hour counts. */
  since: number;
}

/** What people set for a name in an environment, whether or not an event of it was seen. */
export interface EventTypeSettings {
  environmentId: EnvironmentId;
  name: string;
  /** How long its events are kept; null: as long as others of the environment. */
  retentionMs: number | null;
}

export interface EventTypeStore {
  /** Every setting of the installation. */
  eventTypeSettingsList(): Promise<EventTypeSettings[]>;
  /** Changes the fields given. */
  eventTypeSettingsPut(
    params: Pick<EventTypeSettings, "environmentId" | "name"> & { retentionMs?: number | null },
  ): Promise<EventTypeSettings>;
  /** Counts what was committed since the last call, at most about `limit` events; true when nothing is left to count. */
  eventTypeCount(params: { limit: number }): Promise<boolean>;
  /** The name that appeared last in the installation comes first. */
  eventTypeList(params: EventTypeListParams): Promise<{ types: EventType[]; next: number | null }>;
  /** Null when no event of this name was counted. */
  eventTypeGet(params: { environmentId: EnvironmentId; name: string; since: number }): Promise<EventType | null>;
  /** Removes at most `limit` counts of hours that ended at or before `endedUntil`; says how many. Totals stay. */
  eventTypeHourExpireMany(params: { endedUntil: number; limit: number }): Promise<number>;
}

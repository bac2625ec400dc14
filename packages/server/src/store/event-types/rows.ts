/** Converts rows of event types and their hours to the contract's records. */

import type { EnvironmentId } from "@inlet/protocol";
import type { EventType, EventTypeSettings } from "../contract/index.ts";

export const HOUR_MS = 3_600_000;

export interface TypeRow {
  name_id: number;
  name: string;
  first_seen_at: number;
  last_seen_at: number;
  count: number;
}

/** `hour` is the number of hours since 1970. */
export interface EventTypeHourRow {
  hour: number;
  count: number;
}

export function toEventType(row: TypeRow, hours: readonly EventTypeHourRow[]): EventType {
  return {
    name: row.name,
    firstSeenAt: row.first_seen_at,
    lastSeenAt: row.last_seen_at,
    count: row.count,
    countSince: hours.reduce((sum, { count }) => sum + count, 0),
    hours: hours.map(({ hour, count }) => ({ at: hour * HOUR_MS, count })),
  };
}

export interface SettingsRow {
  environment_id: number;
  name: string;
  retention_ms: number | null;
}

export function toEventTypeSettings({ environment_id, name, retention_ms }: SettingsRow): EventTypeSettings {
  return { environmentId: environment_id as EnvironmentId, name, retentionMs: retention_ms };
}

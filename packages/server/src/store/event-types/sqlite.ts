/**
 * Event types in SQLite. The read thread counts a range of sequence numbers at a time from the events table. The counts, and the accepted events
 * of each minute, are added together with the number reached, in one transaction, so they are exact even after a crash.
 */

import type { DatabaseSync } from "node:sqlite";
import type { EnvironmentId } from "@inlet/protocol";
import type { EventType, EventTypeListParams, EventTypeStore } from "../contract/index.ts";
import type { GroupCommit } from "../sqlite/group-commit.ts";
import type { CountedEvents, CountedRange } from "../sqlite/read-operations.ts";
import type { Reader } from "../sqlite/reader.ts";
import { MINUTE_MS, noFigures } from "../traffic/policy.ts";
import type { TrafficRows } from "../traffic/sqlite.ts";
import { type EventTypeHourRow, HOUR_MS, type SettingsRow, type TypeRow, toEventType, toEventTypeSettings } from "./rows.ts";

export function eventTypeStore(db: DatabaseSync, writer: GroupCommit, reader: Reader, traffic: TrafficRows): EventTypeStore {
  const progress = db.prepare("SELECT sequence FROM event_types_counted");
  const advance = db.prepare("UPDATE event_types_counted SET sequence = ?");
  const addTotal = db.prepare(`
    INSERT INTO event_types (environment_id, name_id, first_seen_at, last_seen_at, count) VALUES (?, ?, ?, ?, ?)
    ON CONFLICT DO UPDATE SET count = count + excluded.count,
      first_seen_at = min(first_seen_at, excluded.first_seen_at), last_seen_at = max(last_seen_at, excluded.last_seen_at)`);
  const addHour = db.prepare(`
    INSERT INTO event_type_hours (environment_id, name_id, hour, count) VALUES (?, ?, ?, ?)
    ON CONFLICT DO UPDATE SET count = count + excluded.count`);
  const expire = db.prepare(`
    DELETE FROM event_type_hours WHERE (environment_id, name_id, hour) IN (
      SELECT environment_id, name_id, hour FROM event_type_hours WHERE hour <= ? ORDER BY hour LIMIT ?)`);

  const listSettings = db.prepare("SELECT * FROM event_type_settings ORDER BY environment_id, name");
  const putSettings = db.prepare(`
    INSERT INTO event_type_settings (environment_id, name, retention_ms) VALUES (?, ?, ?)
    ON CONFLICT DO UPDATE SET retention_ms = CASE WHEN ? THEN excluded.retention_ms ELSE retention_ms END RETURNING *`);
  const listUnseen = db.prepare(`
    SELECT name FROM event_schemas AS declared
    WHERE environment_id = ? AND name > ? AND (schema IS NOT NULL OR description IS NOT NULL) AND NOT EXISTS (
      SELECT 1 FROM event_types WHERE environment_id = ? AND name_id = (SELECT name_id FROM event_names WHERE name = declared.name))
    ORDER BY name LIMIT ?`);
  const counted = () => (progress.get() as { sequence: number }).sequence;

  function add({ counts, reached }: CountedRange, from: number): void {
    // This range has been counted already.
    if (counted() !== from || reached === from) return;
    for (const { environment_id, name_id, isAccepted, count, first, last } of counts) {
      addTotal.run(environment_id, name_id, first, last, count);
      addHour.run(environment_id, name_id, Math.floor(first / HOUR_MS), count);
      if (isAccepted) traffic.note([{ environmentId: environment_id, at: first, figures: { ...noFigures(), accepted: count } }]);
    }
    advance.run(reached);
  }

  return {
    eventTypeSettingsList: async () => (listSettings.all() as unknown as SettingsRow[]).map(toEventTypeSettings),
    eventTypeSettingsPut: ({ environmentId, name, retentionMs }) =>
      writer.submit(() => {
        const row = putSettings.get(environmentId, name, retentionMs ?? null, Number(retentionMs !== undefined));
        return toEventTypeSettings(row as unknown as SettingsRow);
      }),
    async eventTypeCount({ limit }) {
      const from = counted();
      const range = await reader.read("eventTypeRange", { after: from, limit });
      if (range.reached > from) await writer.submit(() => add(range, from), range.counts.length * 4 + 1);
      return range.isLast;
    },
    eventTypeList: (params) => reader.read("eventTypeList", params),
    eventTypeUnseenList: async ({ environmentId, scopeId, limit, after = "" }) =>
      (listUnseen.all(scopeId, after, environmentId, limit) as { name: string }[]).map(({ name }) => name),
    eventTypeGet: (params) => reader.read("eventTypeGet", params),
    eventTypeHourExpireMany: ({ endedUntil, limit }) =>
      writer.submit(() => Number(expire.run(Math.floor(endedUntil / HOUR_MS) - 1, limit).changes), limit),
  };
}

export function countRange(db: DatabaseSync, { after, limit }: { after: number; limit: number }): CountedRange {
  const { last } = db.prepare("SELECT coalesce(max(sequence), 0) AS last FROM events").get() as { last: number };
  const reached = Math.max(after, Math.min(last, after + limit));
  const counts = db
    .prepare(`
      SELECT environment_id, name_id, source_kind <> 'internal' AS isAccepted, count, first, last
      FROM (
        SELECT environment_id, name_id, source_no, count(*) AS count, min(received_at) AS first, max(received_at) AS last
        FROM events WHERE sequence > ? AND sequence <= ? GROUP BY received_at / ${MINUTE_MS}, source_no, name_id, environment_id)
      CROSS JOIN event_sources USING (source_no)`)
    .all(after, reached) as unknown as CountedEvents[];
  return { counts, reached, isLast: reached >= last };
}

const TYPES = `
  SELECT name_id, name, first_seen_at, last_seen_at, count FROM event_types AS types CROSS JOIN event_names USING (name_id)
  WHERE environment_id = ?`;

export function listEventTypes(db: DatabaseSync, params: EventTypeListParams): { types: EventType[]; next: number | null } {
  const { environmentId, limit, after = Number.MAX_SAFE_INTEGER, since } = params;
  const rows = db
    .prepare(`${TYPES} AND name_id < ? ORDER BY name_id DESC LIMIT ?`)
    .all(environmentId, after, limit + 1) as unknown as TypeRow[];
  const page = rows.slice(0, limit);
  const complete = withHours(db, environmentId, since);
  return { types: page.map(complete), next: rows.length > limit ? (page.at(-1)?.name_id ?? null) : null };
}

type EventTypeGetParams = Parameters<EventTypeStore["eventTypeGet"]>[0];

export function getEventType(db: DatabaseSync, { environmentId, name, since }: EventTypeGetParams): EventType | null {
  const row = db.prepare(`${TYPES} AND name_id = (SELECT name_id FROM event_names WHERE name = ?)`).get(environmentId, name) as
    | TypeRow
    | undefined;
  return row ? withHours(db, environmentId, since)(row) : null;
}

function withHours(db: DatabaseSync, environmentId: EnvironmentId, since: number): (row: TypeRow) => EventType {
  const hours = db.prepare(`
    SELECT hour, count FROM event_type_hours WHERE environment_id = ? AND name_id = ? AND hour >= ? ORDER BY hour`);
  const first = Math.floor(since / HOUR_MS);
  return (row) => toEventType(row, hours.all(environmentId, row.name_id, first) as unknown as EventTypeHourRow[]);
}

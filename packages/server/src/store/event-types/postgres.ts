/**
 * Event types in PostgreSQL. A range of sequence numbers is counted at a time, and the counts, with those of accepted events by minute, are stored together with the number
 * reached, in one transaction, so they are exact whichever node counts. The embedded store sums in memory instead; here, nodes
 * would have to agree on whose sums are complete.
 */

import type { EnvironmentId } from "@inlet/protocol";
import type { PoolClient } from "pg";
import type { EventType, EventTypeListParams, EventTypeStore } from "../contract/index.ts";
import { sequenceAfter, settledSequence } from "../events/postgres/settled-sequence.ts";
import type { Database, Read } from "../postgres/database.ts";
import { COUNTED_HERE } from "../postgres/fenced.ts";
import { addAccepted } from "../traffic/postgres.ts";
import { type EventTypeHourRow, HOUR_MS, type SettingsRow, type TypeRow, toEventType, toEventTypeSettings } from "./rows.ts";

/** `which`: a condition on events. */
const COUNT = (which: string) => `
  WITH sums AS MATERIALIZED (
    SELECT environment_id, name_id, (received_at / ${HOUR_MS})::integer AS hour, count(*) AS count, min(received_at) AS first, max(received_at) AS last
    FROM events WHERE sequence > $1 AND sequence <= $2 AND ${which} GROUP BY 1, 2, 3
  ), totals AS (
    INSERT INTO event_types AS t (environment_id, name_id, first_seen_at, last_seen_at, count)
    SELECT environment_id, name_id, min(first), max(last), sum(count) FROM sums GROUP BY 1, 2
    ON CONFLICT (environment_id, name_id) DO UPDATE SET count = t.count + excluded.count,
      first_seen_at = least(t.first_seen_at, excluded.first_seen_at), last_seen_at = greatest(t.last_seen_at, excluded.last_seen_at)
  )
  INSERT INTO event_type_hours AS h (environment_id, name_id, hour, count) SELECT environment_id, name_id, hour, count FROM sums
  ON CONFLICT (environment_id, name_id, hour) DO UPDATE SET count = h.count + excluded.count`;

const UNSEEN = `
  SELECT name FROM event_schemas AS declared
  WHERE environment_id = $1 AND name COLLATE "C" > $2 AND (schema IS NOT NULL OR description IS NOT NULL) AND NOT EXISTS (
    SELECT 1 FROM event_types WHERE environment_id = $3 AND name_id = (SELECT name_id FROM event_names WHERE name = declared.name))
  ORDER BY name COLLATE "C" LIMIT $4`;

const PUT_SETTINGS = `
  INSERT INTO event_type_settings AS s (environment_id, name, retention_ms) VALUES ($1, $2, $3)
  ON CONFLICT (environment_id, name)
  DO UPDATE SET retention_ms = CASE WHEN $4::boolean THEN excluded.retention_ms ELSE s.retention_ms END RETURNING *`;

export function eventTypeStore(database: Database): EventTypeStore {
  return {
    eventTypeSettingsList: async () =>
      (await database.query<SettingsRow>("SELECT * FROM event_type_settings ORDER BY environment_id, name")).map(toEventTypeSettings),
    async eventTypeSettingsPut({ environmentId, name, retentionMs }) {
      const [row] = await database.query<SettingsRow>(PUT_SETTINGS, [environmentId, name, retentionMs ?? null, retentionMs !== undefined]);
      return toEventTypeSettings(row as SettingsRow);
    },
    async eventTypeCount({ limit }) {
      const settled = await settledSequence(database);
      return database.transaction(async (client) => {
        // One node counts at a time; the others skip.
        const { rows } = await client.query<{ sequence: number }>("SELECT sequence FROM event_types_counted FOR UPDATE SKIP LOCKED");
        const from = rows[0]?.sequence;
        if (from === undefined || from >= settled) return true;
        const read: Read = async (text, values) => (await client.query(text, [...values])).rows;
        const until = await sequenceAfter(read, { after: from, settled, count: limit });
        await countRange(client, from, until, COUNTED_HERE);
        await client.query("UPDATE event_types_counted SET sequence = $1", [until]);
        return until === settled;
      }, "maintenance");
    },
    async eventTypeUnseenList({ environmentId, scopeId, limit, after = "" }) {
      const rows = await database.read<{ name: string }>(UNSEEN, [scopeId, after, environmentId, limit]);
      return rows.map(({ name }) => name);
    },
    eventTypeList: (params) => listEventTypes(database, params),
    async eventTypeGet({ environmentId, name, since }) {
      const wanted = "name_id = (SELECT name_id FROM event_names WHERE name = $3)";
      const [row] = await database.read<CountedRow>(`${TYPES} AND ${wanted}`, [firstHour(since), environmentId, name]);
      return row ? toEventType(row, row.hours ?? []) : null;
    },
    async eventTypeHourExpireMany({ endedUntil, limit }) {
      const rows = await database.query(
        `WITH old AS MATERIALIZED (
           SELECT environment_id, name_id, hour FROM event_type_hours WHERE hour <= $1 ORDER BY hour LIMIT $2 FOR UPDATE SKIP LOCKED)
         DELETE FROM event_type_hours WHERE (environment_id, name_id, hour) IN (SELECT * FROM old) RETURNING 1`,
        [Math.floor(endedUntil / HOUR_MS) - 1, limit],
        "maintenance",
      );
      return rows.length;
    },
  };
}

/** Counts events of an environment that another database did not count before the environment left it. */
export async function countEvents(client: PoolClient, from: number, until: number, environmentId: EnvironmentId): Promise<void> {
  await countRange(client, from, until, `environment_id = ${environmentId}`);
}

async function countRange(client: PoolClient, from: number, until: number, which: string): Promise<void> {
  await client.query(COUNT(which), [from, until]);
  await addAccepted(client, from, until, which);
}

interface CountedRow extends TypeRow {
  hours: EventTypeHourRow[] | null;
}

const TYPES = `
  SELECT name_id, name, first_seen_at, last_seen_at, count,
    (SELECT json_agg(h) FROM (
      SELECT hour, hours.count FROM event_type_hours AS hours
      WHERE hours.environment_id = types.environment_id AND hours.name_id = types.name_id AND hour >= $1 ORDER BY hour) AS h) AS hours
  FROM event_types AS types JOIN event_names USING (name_id) WHERE environment_id = $2`;

async function listEventTypes(database: Database, params: EventTypeListParams): Promise<{ types: EventType[]; next: number | null }> {
  const { environmentId, limit, after = 2 ** 31 - 1, since } = params;
  const rows = await database.read<CountedRow>(`${TYPES} AND name_id < $3 ORDER BY name_id DESC LIMIT $4`, [
    firstHour(since),
    environmentId,
    after,
    limit + 1,
  ]);
  const page = rows.slice(0, limit);
  const types = page.map((row) => toEventType(row, row.hours ?? []));
  return { types, next: rows.length > limit ? (page.at(-1)?.name_id ?? null) : null };
}

function firstHour(since: number): number {
  return Math.floor(since / HOUR_MS);
}

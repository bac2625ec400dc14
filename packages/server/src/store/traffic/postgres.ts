/**
 * Traffic in PostgreSQL: the same counts by minute, retained for days, and by hour, retained longer. Each connection adds to rows of its own:
 * no transaction waits for another because of figures.
 */

import type { PoolClient } from "pg";
import type { TrafficFigures, TrafficMinute, TrafficStore } from "../contract/index.ts";
import type { Database } from "../postgres/database.ts";
import type { PendingWrites } from "../postgres/pending-writes.ts";
import { HOUR_MS, MINUTE_MS, sumOfMinutes } from "./policy.ts";
import { TRAFFIC_COLUMNS } from "./rows.ts";

/** Accepted events are counted by one node at a time: see event-types/postgres.ts. */
const COUNTER = 0;
const TABLES = { traffic_minutes: MINUTE_MS, traffic_hours: HOUR_MS } as const;

type TrafficRow = { at: number } & Record<
  "accepted" | "duplicates" | "refused" | "runs_started" | "runs_completed" | "runs_failed",
  number
>;

/** Summed first: a statement can add to a row only once. */
const ADD = (table: keyof typeof TABLES) => `
  INSERT INTO ${table} AS t (environment_id, at, writer, ${TRAFFIC_COLUMNS.join(", ")})
  SELECT environment_id, at - at % ${TABLES[table]}, pg_backend_pid(), ${TRAFFIC_COLUMNS.map((column) => `sum(${column})`).join(", ")}
  FROM unnest($1::integer[], $2::bigint[], ${TRAFFIC_COLUMNS.map((_, n) => `$${n + 3}::bigint[]`).join(", ")}) AS m(environment_id, at, ${TRAFFIC_COLUMNS.join(", ")})
  GROUP BY 1, 2 ORDER BY 1, 2
  ON CONFLICT (environment_id, at, writer) DO UPDATE SET ${TRAFFIC_COLUMNS.map((column) => `${column} = t.${column} + excluded.${column}`).join(", ")}`;

const EXPIRE = (table: keyof typeof TABLES) => `
  WITH old AS MATERIALIZED (SELECT environment_id, at, writer FROM ${table} WHERE at <= $1 LIMIT $2 FOR UPDATE SKIP LOCKED)
  DELETE FROM ${table} WHERE (environment_id, at, writer) IN (SELECT * FROM old)`;

export function trafficStore(database: Database): TrafficStore {
  return {
    async trafficAdd({ minutes }) {
      const values = valuesOf(minutes);
      await database.transaction(async (client) => {
        await client.query(ADD("traffic_minutes"), values);
        await client.query(ADD("traffic_hours"), values);
      });
    },
    async trafficList({ environmentId, from, to, intervalMs }) {
      const table = intervalMs < HOUR_MS ? "traffic_minutes" : "traffic_hours";
      const rows = await database.read<TrafficRow>(
        `SELECT at - at % $1::bigint AS at, ${TRAFFIC_COLUMNS.map((column) => `sum(${column})::bigint AS ${column}`).join(", ")}
         FROM ${table} WHERE environment_id = $2 AND at >= $3 AND at < $4 GROUP BY 1 ORDER BY 1`,
        [intervalMs, environmentId, from, to],
      );
      return rows.map((row) => ({ at: row.at, figures: toFigures(row) }));
    },
    trafficExpireMany: ({ minutesUntil, hoursUntil, limit }) =>
      database.transaction(async (client) => {
        const { rowCount: minutes } = await client.query(EXPIRE("traffic_minutes"), [minutesUntil, limit]);
        const { rowCount: hours } = await client.query(EXPIRE("traffic_hours"), [hoursUntil, limit - (minutes ?? 0)]);
        return (minutes ?? 0) + (hours ?? 0);
      }, "maintenance"),
  };
}

/** What the decisions of a group add, in their transaction. */
export function writeTraffic(writes: PendingWrites): void {
  if (writes.traffic.length === 0) return;
  const values = valuesOf(sumOfMinutes(writes.traffic));
  writes.send(ADD("traffic_minutes"), ...values);
  writes.send(ADD("traffic_hours"), ...values);
}

const ADD_ACCEPTED = (table: keyof typeof TABLES, which: string) => `
  INSERT INTO ${table} AS t (environment_id, at, writer, ${TRAFFIC_COLUMNS.join(", ")})
  SELECT environment_id, received_at - received_at % ${TABLES[table]}, ${COUNTER}, count(*), 0, 0, 0, 0, 0
  FROM events JOIN event_sources USING (source_no)
  WHERE sequence > $1 AND sequence <= $2 AND source_kind <> 'internal' AND ${which} GROUP BY 1, 2 ORDER BY 1, 2
  ON CONFLICT (environment_id, at, writer) DO UPDATE SET accepted = t.accepted + excluded.accepted`;

/** Adds the accepted events of a range of sequence numbers, in the transaction that marks the range as counted. `which`: a condition on them. */
export async function addAccepted(client: PoolClient, from: number, until: number, which: string): Promise<void> {
  await client.query(ADD_ACCEPTED("traffic_minutes", which), [from, until]);
  await client.query(ADD_ACCEPTED("traffic_hours", which), [from, until]);
}

function valuesOf(minutes: readonly TrafficMinute[]): unknown[] {
  return [minutes.map(({ environmentId }) => environmentId), minutes.map(({ at }) => at), ...figureArrays(minutes)];
}

function figureArrays(minutes: readonly TrafficMinute[]): number[][] {
  const all = minutes.map(({ figures }) => figures);
  const names = ["accepted", "duplicates", "refused", "runsStarted", "runsCompleted", "runsFailed"] as const;
  return names.map((name) => all.map((figures) => figures[name]));
}

function toFigures({ accepted, duplicates, refused, runs_started, runs_completed, runs_failed }: TrafficRow): TrafficFigures {
  return { accepted, duplicates, refused, runsStarted: runs_started, runsCompleted: runs_completed, runsFailed: runs_failed };
}

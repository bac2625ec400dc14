/** Traffic in PostgreSQL: the same counts by minute, retained for days, and by hour, retained longer. Every node adds its own. */

import type { TrafficFigures, TrafficMinute, TrafficStore } from "../contract/index.ts";
import type { Database } from "../postgres/database.ts";

const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;
const COLUMNS = ["accepted", "duplicates", "refused", "runs_started", "runs_completed", "runs_failed"];
const TABLES = { traffic_minutes: MINUTE_MS, traffic_hours: HOUR_MS } as const;

type TrafficRow = { at: number } & Record<
  "accepted" | "duplicates" | "refused" | "runs_started" | "runs_completed" | "runs_failed",
  number
>;

/** Rows are in a fixed order, so that nodes that add to the same minutes wait for each other but never deadlock. */
const ADD = (table: keyof typeof TABLES) => `
  INSERT INTO ${table} AS t (environment_id, at, ${COLUMNS.join(", ")})
  SELECT environment_id, at - at % ${TABLES[table]}, ${COLUMNS.map((column) => `sum(${column})`).join(", ")}
  FROM unnest($1::integer[], $2::bigint[], ${COLUMNS.map((_, n) => `$${n + 3}::bigint[]`).join(", ")}) AS m(environment_id, at, ${COLUMNS.join(", ")})
  GROUP BY 1, 2 ORDER BY 1, 2
  ON CONFLICT (environment_id, at) DO UPDATE SET ${COLUMNS.map((column) => `${column} = t.${column} + excluded.${column}`).join(", ")}`;

const EXPIRE = (table: keyof typeof TABLES) => `
  DELETE FROM ${table} WHERE (environment_id, at) IN (
    SELECT environment_id, at FROM ${table} WHERE at <= $1 LIMIT $2 FOR UPDATE SKIP LOCKED)`;

export function trafficStore(database: Database): TrafficStore {
  return {
    async trafficAdd({ minutes }) {
      const values = [minutes.map(({ environmentId }) => environmentId), minutes.map(({ at }) => at), ...figureArrays(minutes)];
      await database.transaction(async (client) => {
        await client.query(ADD("traffic_minutes"), values);
        await client.query(ADD("traffic_hours"), values);
      });
    },
    async trafficList({ environmentId, from, to, intervalMs }) {
      const table = intervalMs < HOUR_MS ? "traffic_minutes" : "traffic_hours";
      const rows = await database.read<TrafficRow>(
        `SELECT at - at % $1::bigint AS at, ${COLUMNS.map((column) => `sum(${column})::bigint AS ${column}`).join(", ")}
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

function figureArrays(minutes: readonly TrafficMinute[]): number[][] {
  const all = minutes.map(({ figures }) => figures);
  const names = ["accepted", "duplicates", "refused", "runsStarted", "runsCompleted", "runsFailed"] as const;
  return names.map((name) => all.map((figures) => figures[name]));
}

function toFigures({ accepted, duplicates, refused, runs_started, runs_completed, runs_failed }: TrafficRow): TrafficFigures {
  return { accepted, duplicates, refused, runsStarted: runs_started, runsCompleted: runs_completed, runsFailed: runs_failed };
}

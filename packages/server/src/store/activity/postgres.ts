/** Activity in PostgreSQL. Every node adds its own. */

import type { ActivityParams, ActivityStore } from "../contract/index.ts";
import type { Database } from "../postgres/database.ts";
import { subjectsOf } from "./policy.ts";

interface ActivityRow {
  at: number;
  parts: number;
  last_at: number;
}

/** Rows are in a fixed order, so that nodes that add to the same hours wait for each other but never deadlock. */
const ADD = `
  INSERT INTO activity_hours AS a (environment_id, kind, at, subject, parts, last_at)
  SELECT environment_id, kind, at, subject, bit_or(parts), max(last_at)
  FROM unnest($1::integer[], $2::text[], $3::bigint[], $4::text[], $5::integer[], $6::bigint[])
    AS h(environment_id, kind, at, subject, parts, last_at)
  GROUP BY 1, 2, 3, 4 ORDER BY 1, 2, 3, 4
  ON CONFLICT (environment_id, kind, at, subject) DO UPDATE SET
    parts = a.parts | excluded.parts, last_at = greatest(a.last_at, excluded.last_at)`;
const EXPIRE = `
  WITH old AS MATERIALIZED (
    SELECT environment_id, kind, at, subject FROM activity_hours WHERE at <= $1 LIMIT $2 FOR UPDATE SKIP LOCKED)
  DELETE FROM activity_hours WHERE (environment_id, kind, at, subject) IN (SELECT * FROM old)`;

export function activityStore(database: Database): ActivityStore {
  return {
    async activityAdd({ hours }) {
      const names = hours.map(({ subject }) => subject);
      const ids = [hours.map(({ environmentId }) => environmentId), hours.map(({ kind }) => kind), hours.map(({ at }) => at), names];
      await database.query(ADD, [...ids, hours.map(({ parts }) => parts), hours.map(({ lastAt }) => lastAt)]);
    },
    async activityLast(params) {
      const { where, values } = selection(params);
      const [row] = await database.read<{ last_at: number | null }>(
        `SELECT max(last_at) AS last_at FROM activity_hours WHERE ${where}`,
        values,
      );
      return row?.last_at ?? null;
    },
    async activityList(params) {
      const { where, values } = selection(params);
      const rows = await database.read<ActivityRow>(
        `SELECT at, parts, last_at FROM activity_hours WHERE ${where} ORDER BY at DESC LIMIT $5`,
        [...values, params.limit],
      );
      return rows.reverse().map(({ at, parts, last_at }) => ({ at, parts, lastAt: last_at }));
    },
    activityExpireMany: ({ until, limit }) =>
      database.transaction(async (client) => (await client.query(EXPIRE, [until, limit])).rowCount ?? 0, "maintenance"),
  };
}

function selection(params: ActivityParams): { where: string; values: (string | number)[] } {
  const { environmentId, kind, since } = params;
  const { text, isPrefix } = subjectsOf(params);
  const isMeant = isPrefix ? "starts_with(subject, $4)" : "subject = $4";
  return {
    where: `environment_id = $1 AND kind = $2 AND at >= $3 AND ${isMeant}`,
    values: [environmentId, kind, since, text],
  };
}

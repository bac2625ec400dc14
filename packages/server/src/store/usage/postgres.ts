/**
 * Usage in PostgreSQL. Each connection adds to rows of its own: no transaction waits for another because of figures. Leases of quotas are one
 * row for each quota, which a node takes a share of at a time.
 */

import type { UsageHour, UsageListParams, UsageStore } from "../contract/index.ts";
import type { Database } from "../postgres/database.ts";
import { jsonRows } from "../postgres/json-rows.ts";
import type { PendingWrites } from "../postgres/pending-writes.ts";
import { grantLease, type LeasedOfQuota } from "./policy.ts";
import { toUsageHour, toUsageRow, USAGE_COLUMNS, type UsageRow } from "./rows.ts";

const ADD = "SELECT add_usage($1)";
const LIST = `
  SELECT environment_id, at - at % $1::bigint AS at, subject, ${USAGE_COLUMNS.map((column) => `sum(${column})::bigint AS ${column}`).join(", ")}
  FROM usage_hours WHERE environment_id = ANY ($2::integer[]) AND kind = $3 AND at >= $4 AND at < $5
  GROUP BY 1, 2, 3 ORDER BY 2, 1, 3`;
const EXPIRE = `
  WITH old AS MATERIALIZED (
    SELECT environment_id, kind, at, subject, writer FROM usage_hours WHERE at <= $1 LIMIT $2 FOR UPDATE SKIP LOCKED)
  DELETE FROM usage_hours WHERE (environment_id, kind, at, subject, writer) IN (SELECT * FROM old)`;
const HOLD_LEASES = `
  INSERT INTO quota_leases AS q (environment_id, quota, period, leased) VALUES ($1, $2, 0, 0)
  ON CONFLICT (environment_id, quota) DO UPDATE SET leased = q.leased RETURNING period, leased`;
const SET_LEASES = "UPDATE quota_leases SET period = $3, leased = $4 WHERE environment_id = $1 AND quota = $2";
const RELEASE = "UPDATE quota_leases SET leased = greatest(0, leased - $4) WHERE environment_id = $1 AND quota = $2 AND period = $3";

export function usageStore(database: Database): UsageStore {
  return {
    async usageAdd({ hours }) {
      await database.query(ADD, [rowsOf(hours)]);
    },
    usageList: (params) => listUsage(database, params),
    usageExpireMany: ({ until, limit }) =>
      database.transaction(async (client) => (await client.query(EXPIRE, [until, limit])).rowCount ?? 0, "maintenance"),
    quotaLease: ({ environmentId, quota, figure, ...asked }) =>
      database.transaction(async (client) => {
        const [known] = (await client.query<LeasedOfQuota>(HOLD_LEASES, [environmentId, quota])).rows;
        const used = figure && (await client.query<{ used: number }>(USED(figure), [environmentId, asked.period])).rows[0]?.used;
        const { period, leased, granted } = grantLease(known ?? null, used ?? 0, asked);
        await client.query(SET_LEASES, [environmentId, quota, period, leased]);
        return { granted, leased };
      }),
    async quotaRelease({ environmentId, quota, period, unused }) {
      await database.query(RELEASE, [environmentId, quota, period, unused]);
    },
  };
}

const USED = (figure: "accepted" | "bytes") =>
  `SELECT coalesce(sum(${figure}), 0)::bigint AS used FROM usage_hours WHERE environment_id = $1 AND kind = 'environment' AND at >= $2`;

/** What the units of a group have added so far, in their transaction. */
export function writeUsage(writes: PendingWrites): void {
  if (writes.usage.size === 0) return;
  writes.send(ADD, rowsOf(writes.usage.hours()));
  writes.usage.clear();
}

async function listUsage(database: Database, { environmentIds, kind, from, to, intervalMs }: UsageListParams): Promise<UsageHour[]> {
  const rows = await database.read<UsageRow>(LIST, [intervalMs, [...environmentIds], kind, from, to]);
  return rows.map((row) => toUsageHour(kind, row));
}

function rowsOf(hours: readonly UsageHour[]) {
  return jsonRows(hours.map(toUsageRow));
}

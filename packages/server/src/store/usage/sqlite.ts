/** Usage in SQLite. */

import type { DatabaseSync } from "node:sqlite";
import type { UsageHour, UsageListParams, UsageStore } from "../contract/index.ts";
import type { GroupCommit } from "../sqlite/group-commit.ts";
import type { Reader } from "../sqlite/reader.ts";
import { UsageSums } from "./policy.ts";
import { toUsageHour, USAGE_COLUMNS, type UsageRow, usageColumns } from "./rows.ts";

/** Adds to the figures inside a transaction. What units of a group note is added once, before the group commits. */
export class UsageRows {
  readonly noted = new UsageSums();
  readonly #add;

  constructor(db: DatabaseSync) {
    this.#add = db.prepare(`
      INSERT INTO usage_hours (environment_id, kind, at, subject, ${USAGE_COLUMNS.join(", ")})
      VALUES (?, ?, ?, ?, ${USAGE_COLUMNS.map(() => "?").join(", ")})
      ON CONFLICT DO UPDATE SET ${USAGE_COLUMNS.map((column) => `${column} = ${column} + excluded.${column}`).join(", ")}`);
  }

  /** Before the commit. */
  write(): void {
    if (this.noted.size === 0) return;
    for (const { environmentId, kind, at, subject, figures } of this.noted.hours()) {
      this.#add.run(environmentId, kind, at, subject, ...usageColumns(figures));
    }
    this.noted.clear();
  }

  /** Discards the figures of a transaction that was rolled back. */
  forget(): void {
    this.noted.clear();
  }
}

export function usageStore(db: DatabaseSync, writer: GroupCommit, reader: Reader, rows: UsageRows): UsageStore {
  const expire = db.prepare(`
    DELETE FROM usage_hours WHERE (environment_id, kind, at, subject) IN (
      SELECT environment_id, kind, at, subject FROM usage_hours WHERE at <= ? LIMIT ?)`);
  return {
    usageAdd: ({ hours }) =>
      writer.submit(() => {
        for (const { at, figures, ...subject } of hours) rows.noted.add(subject, at, figures);
      }, hours.length),
    usageList: (params) => reader.read("usageList", params),
    usageExpireMany: ({ until, limit }) => writer.submit(() => Number(expire.run(until, limit).changes), limit),
    // One process: nobody else uses the quota.
    quotaLease: async ({ wanted }) => ({ granted: wanted, leased: wanted }),
    quotaRelease: async () => {},
  };
}

export function listUsage(db: DatabaseSync, { environmentIds, kind, from, to, intervalMs }: UsageListParams): UsageHour[] {
  const rows = db
    .prepare(`
      SELECT environment_id, at - at % ?1 AS at, subject, ${USAGE_COLUMNS.map((column) => `sum(${column}) AS ${column}`).join(", ")}
      FROM usage_hours WHERE environment_id IN (SELECT value FROM json_each(?2)) AND kind = ?3 AND at >= ?4 AND at < ?5
      GROUP BY 1, 2, 3 ORDER BY 2, 1, 3`)
    .all(intervalMs, JSON.stringify(environmentIds), kind, from, to) as unknown as UsageRow[];
  return rows.map((row) => toUsageHour(kind, row));
}

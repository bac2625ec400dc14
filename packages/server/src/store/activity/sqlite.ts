/** Activity in SQLite. */

import type { DatabaseSync } from "node:sqlite";
import type { ActiveHour, ActivityParams, ActivityStore } from "../contract/index.ts";
import type { GroupCommit } from "../sqlite/group-commit.ts";
import type { Reader } from "../sqlite/reader.ts";
import { subjectsOf } from "./policy.ts";

interface ActivityRow {
  at: number;
  parts: number;
  last_at: number;
}

export function activityStore(db: DatabaseSync, writer: GroupCommit, reader: Reader): ActivityStore {
  const add = db.prepare(`
    INSERT INTO activity_hours (environment_id, kind, at, subject, parts, last_at) VALUES (?, ?, ?, ?, ?, ?)
    ON CONFLICT DO UPDATE SET parts = parts | excluded.parts, last_at = max(last_at, excluded.last_at)`);
  const expire = db.prepare(`
    DELETE FROM activity_hours WHERE (environment_id, kind, at, subject) IN (
      SELECT environment_id, kind, at, subject FROM activity_hours INDEXED BY activity_hours_by_age WHERE at <= ? LIMIT ?)`);

  return {
    activityAdd: ({ hours }) =>
      writer.submit(() => {
        for (const { environmentId, kind, at, subject, parts, lastAt } of hours) add.run(environmentId, kind, at, subject, parts, lastAt);
      }, hours.length),
    activityLast: (params) => reader.read("activityLast", params),
    activityList: (params) => reader.read("activityList", params),
    activityExpireMany: ({ until, limit }) => writer.submit(() => Number(expire.run(until, limit).changes), limit),
  };
}

export function lastActivity(db: DatabaseSync, params: ActivityParams): number | null {
  const { where, values } = selection(params);
  const row = db.prepare(`SELECT max(last_at) AS last_at FROM activity_hours WHERE ${where}`).get(...values);
  return (row?.last_at as number | null | undefined) ?? null;
}

export function listActivity(db: DatabaseSync, params: ActivityParams & { limit: number }): ActiveHour[] {
  const { where, values } = selection(params);
  const rows = db
    .prepare(`SELECT at, parts, last_at FROM activity_hours WHERE ${where} ORDER BY at DESC LIMIT ?`)
    .all(...values, params.limit) as unknown as ActivityRow[];
  return rows.reverse().map(({ at, parts, last_at }) => ({ at, parts, lastAt: last_at }));
}

function selection(params: ActivityParams): { where: string; values: (string | number)[] } {
  const { environmentId, kind, since } = params;
  const { text, isPrefix } = subjectsOf(params);
  const isMeant = isPrefix ? "substr(subject, 1, length(?4)) = ?4" : "subject = ?4";
  return { where: `environment_id = ?1 AND kind = ?2 AND at >= ?3 AND ${isMeant}`, values: [environmentId, kind, since, text] };
}

/** The audit log in SQLite: appended by the writer, read on the read thread. */

import type { DatabaseSync, SQLInputValue } from "node:sqlite";
import type { AuditEntry, AuditListParams, AuditStore, EventCursor } from "../contract/index.ts";
import type { GroupCommit } from "../sqlite/group-commit.ts";
import type { Reader } from "../sqlite/reader.ts";
import { type AuditRow, toAuditEntry } from "./rows.ts";

export function auditStore(db: DatabaseSync, writer: GroupCommit, reader: Reader): AuditStore {
  const insert = db.prepare(`
    INSERT INTO audit_log (at, actor_kind, actor_id, actor_name, action, target_kind, target_id, target_name, environment, details)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`);
  const expire = db.prepare(`
    DELETE FROM audit_log WHERE sequence IN (
      SELECT sequence FROM audit_log INDEXED BY audit_log_by_action WHERE at <= ? AND action = ? ORDER BY at LIMIT ?)
      AND sequence < (SELECT max(sequence) FROM audit_log)`);
  return {
    auditExpireMany: ({ action, until, limit }) => writer.submit(() => Number(expire.run(until, action, limit).changes), limit),
    auditAppend: ({ at, actor, action, target, environment, details }) =>
      writer.submit(() => {
        const [who, what] = [actor, target].map(({ kind, id, name }) => [kind, id, name] as const);
        insert.run(at, ...(who ?? []), action, ...(what ?? []), environment, details);
      }),
    auditList: (params) => reader.read("auditList", params),
  };
}

export function listAudit(db: DatabaseSync, params: AuditListParams): { entries: AuditEntry[]; next: EventCursor | null } {
  const where = ["1"];
  const values: SQLInputValue[] = [];
  const require = (condition: string, ...bound: SQLInputValue[]) => {
    where.push(condition);
    values.push(...bound);
  };
  const { after, from, to, actor, action, environments, limit } = params;
  if (after) require("(at, sequence) < (?, ?)", after.receivedAt, after.sequence);
  if (from !== undefined) require("at >= ?", from);
  if (to !== undefined) require("at < ?", to);
  if (actor !== undefined) require("(actor_id = ? OR actor_kind = ?)", actor, actor);
  if (action?.endsWith("*")) require("substr(action, 1, ?) = ?", action.length - 1, action.slice(0, -1));
  else if (action !== undefined) require("action = ?", action);
  if (environments) require("environment IN (SELECT value FROM json_each(?))", JSON.stringify(environments));
  const index = action === undefined || action.endsWith("*") ? "audit_log_by_time" : "audit_log_by_action";
  const rows = db
    .prepare(`SELECT * FROM audit_log INDEXED BY ${index} WHERE ${where.join(" AND ")} ORDER BY at DESC, sequence DESC LIMIT ?`)
    .all(...values, limit + 1) as unknown as AuditRow[];
  const entries = rows.slice(0, limit).map(toAuditEntry);
  const last = entries.at(-1);
  return { entries, next: rows.length > limit && last ? { receivedAt: last.at, sequence: last.sequence } : null };
}

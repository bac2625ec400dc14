/** The audit log in PostgreSQL. */

import type { AuditEntry, AuditListParams, AuditStore, EventCursor } from "../contract/index.ts";
import { Conditions } from "../postgres/conditions.ts";
import type { Database } from "../postgres/database.ts";
import { type AuditRow, toAuditEntry } from "./rows.ts";

export function auditStore(database: Database): AuditStore {
  return {
    async auditAppend({ at, actor, action, target, environment, details }) {
      await database.query(
        `INSERT INTO audit_log (at, actor_kind, actor_id, actor_name, action, target_kind, target_id, target_name, environment, details)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)`,
        [at, actor.kind, actor.id, actor.name, action, target.kind, target.id, target.name, environment, details],
      );
    },
    async auditExpireMany({ action, until, limit }) {
      const removed = await database.query(
        `DELETE FROM audit_log WHERE sequence IN (
           SELECT sequence FROM audit_log WHERE at <= $1 AND action = $2 ORDER BY at LIMIT $3) RETURNING 1`,
        [until, action, limit],
        "maintenance",
      );
      return removed.length;
    },
    auditList: (params) => listAudit(database, params),
  };
}

async function listAudit(database: Database, params: AuditListParams): Promise<{ entries: AuditEntry[]; next: EventCursor | null }> {
  const { after, from, to, actor, action, environments, limit } = params;
  const where = new Conditions();
  where.add("true");
  if (after) where.add("(at, sequence) < (?, ?)", after.receivedAt, after.sequence);
  if (from !== undefined) where.add("at >= ?", from);
  if (to !== undefined) where.add("at < ?", to);
  if (actor !== undefined) where.add("(actor_id = ? OR actor_kind = ?)", actor, actor);
  if (action?.endsWith("*")) where.add("starts_with(action, ?)", action.slice(0, -1));
  else if (action !== undefined) where.add("action = ?", action);
  if (environments) where.add("environment = ANY (?::text[])", environments);
  const rows = await database.read<AuditRow>(
    `SELECT * FROM audit_log WHERE ${where.text} ORDER BY at DESC, sequence DESC LIMIT ${limit + 1}`,
    where.values,
  );
  const entries = rows.slice(0, limit).map(toAuditEntry);
  const last = entries.at(-1);
  return { entries, next: rows.length > limit && last ? { receivedAt: last.at, sequence: last.sequence } : null };
}

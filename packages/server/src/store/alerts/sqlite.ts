/** Alert rules in SQLite. */

import type { DatabaseSync } from "node:sqlite";
import type { AlertRuleFields, AlertStore } from "../contract/index.ts";
import type { GroupCommit } from "../sqlite/group-commit.ts";
import { type AlertRow, toAlertRule } from "./rows.ts";

export function alertStore(db: DatabaseSync, writer: GroupCommit): AlertStore {
  const list = db.prepare("SELECT * FROM alert_rules ORDER BY rule_id");
  const insert = db.prepare(`
    INSERT INTO alert_rules (environment_id, rule_id, created_at, updated_at, name, kind, function_id, webhook_id, event_name, threshold, window_ms,
      quiet_hours, enabled)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`);
  const update = db.prepare(`
    UPDATE alert_rules SET name = ?, kind = ?, function_id = ?, webhook_id = ?, event_name = ?, threshold = ?, window_ms = ?, quiet_hours = ?,
      enabled = ?, updated_at = ?
    WHERE environment_id = ? AND rule_id = ?`);
  const remove = db.prepare("DELETE FROM alert_rules WHERE environment_id = ? AND rule_id = ? AND changes = ?");
  const change = db.prepare(`
    UPDATE alert_rules SET raised_at = ?1, last_raised_at = coalesce(?1, last_raised_at), value = ?2, changes = changes + 1
    WHERE environment_id = ?3 AND rule_id = ?4 AND changes = ?5`);
  const isDone = ({ changes }: { changes: number | bigint }) => Number(changes) > 0;

  return {
    alertRuleList: async () => (list.all() as unknown as AlertRow[]).map(toAlertRule),
    alertRuleInsert: (rule) =>
      writer.submit(() => void insert.run(rule.environmentId, rule.id, rule.createdAt, rule.updatedAt, ...columnsOf(rule))),
    alertRuleUpdate: ({ environmentId, id, updatedAt, ...rule }) =>
      writer.submit(() => isDone(update.run(...columnsOf(rule), updatedAt, environmentId, id))),
    alertRuleDelete: ({ environmentId, id, changes }) => writer.submit(() => isDone(remove.run(environmentId, id, changes))),
    alertChange: ({ environmentId, id, changes, raisedAt, value }) =>
      writer.submit(() => isDone(change.run(raisedAt, value, environmentId, id, changes))),
  };
}

function columnsOf({ name, kind, functionId, webhookId, eventName, threshold, windowMs, quietHours, isEnabled }: AlertRuleFields) {
  const subject = [functionId, webhookId, eventName];
  return [name, kind, ...subject, threshold, windowMs, quietHours && JSON.stringify(quietHours), isEnabled ? 1 : 0];
}

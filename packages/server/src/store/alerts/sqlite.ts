/** Alert rules in SQLite. */

import type { DatabaseSync } from "node:sqlite";
import type { AlertRuleFields, AlertStore, EventBatch } from "../contract/index.ts";
import { LeaseAllocation } from "../queue/policy/lease-allocation.ts";
import type { GroupCommit } from "../sqlite/group-commit.ts";
import type { RunParts } from "../sqlite/run-parts.ts";
import { type AlertRow, toAlertRule } from "./rows.ts";

export interface AlertStoreParts extends Pick<RunParts, "append"> {
  writer: GroupCommit;
}

export function alertStore(db: DatabaseSync, { writer, append }: AlertStoreParts): AlertStore {
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
  const withEvent = (write: () => { changes: number | bigint }, event: EventBatch | null) =>
    writer.submit(() => {
      const allocation = new LeaseAllocation(event?.receivedAt ?? 0, event?.lease);
      const done = isDone(write());
      if (done && event) append(allocation, event);
      return { isDone: done, leased: allocation.leased };
    }, 2);

  return {
    alertRuleList: async () => (list.all() as unknown as AlertRow[]).map(toAlertRule),
    alertRuleInsert: (rule) =>
      writer.submit(() => void insert.run(rule.environmentId, rule.id, rule.createdAt, rule.updatedAt, ...columnsOf(rule))),
    alertRuleUpdate: ({ environmentId, id, updatedAt, ...rule }) =>
      writer.submit(() => isDone(update.run(...columnsOf(rule), updatedAt, environmentId, id))),
    alertRuleDelete: ({ environmentId, id, changes, event }) => withEvent(() => remove.run(environmentId, id, changes), event),
    alertChange: ({ environmentId, id, changes, raisedAt, value, event }) =>
      withEvent(() => change.run(raisedAt, value, environmentId, id, changes), event),
  };
}

function columnsOf({ name, kind, functionId, webhookId, eventName, threshold, windowMs, quietHours, isEnabled }: AlertRuleFields) {
  const subject = [functionId, webhookId, eventName];
  return [name, kind, ...subject, threshold, windowMs, quietHours && JSON.stringify(quietHours), isEnabled ? 1 : 0];
}

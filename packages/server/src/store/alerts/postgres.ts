/** Alert rules in PostgreSQL. */

import type { AlertChanged, AlertRuleFields, AlertStore, EventBatch } from "../contract/index.ts";
import { type WriteWithEventParts, writeWithEvent } from "../postgres/write-with-event.ts";
import { type AlertRow, toAlertRule } from "./rows.ts";

const INSERT = `
  INSERT INTO alert_rules (environment_id, rule_id, created_at, updated_at, name, kind, function_id, webhook_id, event_name, threshold, window_ms,
    quiet_hours, enabled)
  VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)`;
const UPDATE = `
  UPDATE alert_rules SET name = $4, kind = $5, function_id = $6, webhook_id = $7, event_name = $8, threshold = $9, window_ms = $10,
    quiet_hours = $11, enabled = $12, updated_at = $3
  WHERE environment_id = $1 AND rule_id = $2 RETURNING 1`;
const CHANGE = `
  UPDATE alert_rules SET raised_at = $4, last_raised_at = coalesce($4, last_raised_at), value = $5, changes = changes + 1
  WHERE environment_id = $1 AND rule_id = $2 AND changes = $3 RETURNING 1`;
const DELETE = "DELETE FROM alert_rules WHERE environment_id = $1 AND rule_id = $2 AND changes = $3 RETURNING 1";
const EVENT = "SELECT 1 FROM events WHERE environment_id = $1 AND event_id = $2";

export function alertStore(parts: WriteWithEventParts): AlertStore {
  const { database } = parts;
  const isDone = async (text: string, values: readonly unknown[]) => (await database.query(text, values)).length > 0;
  return {
    alertRuleList: async () => (await database.query<AlertRow>("SELECT * FROM alert_rules ORDER BY rule_id")).map(toAlertRule),
    async alertRuleInsert(rule) {
      await database.query(INSERT, [rule.environmentId, rule.id, rule.createdAt, rule.updatedAt, ...columnsOf(rule)]);
    },
    alertRuleUpdate: ({ environmentId, id, updatedAt, ...rule }) => isDone(UPDATE, [environmentId, id, updatedAt, ...columnsOf(rule)]),
    async alertRuleDelete({ environmentId, id, changes, event }) {
      const values = [environmentId, id, changes];
      return event ? change(parts, { text: DELETE, values }, event) : { isDone: await isDone(DELETE, values), leased: [] };
    },
    alertChange: ({ environmentId, id, changes, raisedAt, value, event }) =>
      change(parts, { text: CHANGE, values: [environmentId, id, changes, raisedAt, value] }, event),
  };
}

function change(
  parts: WriteWithEventParts,
  { text, values }: { text: string; values: unknown[] },
  event: EventBatch,
): Promise<AlertChanged> {
  const { environmentId, receivedAt: now, lease, events } = event;
  return writeWithEvent(parts, { environmentId, now, lease, event }, async ({ writes, allocation, append }) => {
    const isDone = (await writes.rows(text, ...values)).length > 0;
    if (isDone) await append(event);
    // Its own event: an earlier attempt was committed.
    else if ((await writes.rows(EVENT, environmentId, events[0]?.id)).length > 0) return { isDone: true, leased: [] };
    return { isDone, leased: allocation.leased };
  });
}

function columnsOf({ name, kind, functionId, webhookId, eventName, threshold, windowMs, quietHours, isEnabled }: AlertRuleFields) {
  const subject = [functionId, webhookId, eventName];
  return [name, kind, ...subject, threshold, windowMs, quietHours && JSON.stringify(quietHours), isEnabled ? 1 : 0];
}

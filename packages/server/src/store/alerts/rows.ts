/** Converts a row of the alert_rules table, as both engines read it, to the contract's AlertRule. */

import type { EnvironmentId } from "@inlet/protocol";
import type { AlertKind, AlertRule, QuietHours } from "../contract/index.ts";

export interface AlertRow {
  environment_id: number;
  rule_id: string;
  name: string;
  kind: string;
  function_id: string | null;
  webhook_id: string | null;
  event_name: string | null;
  threshold: number | null;
  window_ms: number | null;
  quiet_hours: string | null;
  enabled: number;
  created_at: number;
  updated_at: number;
  raised_at: number | null;
  last_raised_at: number | null;
  value: number | null;
  changes: number;
}

export function toAlertRule(row: AlertRow): AlertRule {
  return {
    id: row.rule_id,
    environmentId: row.environment_id as EnvironmentId,
    name: row.name,
    kind: row.kind as AlertKind,
    functionId: row.function_id,
    webhookId: row.webhook_id,
    eventName: row.event_name,
    threshold: row.threshold,
    windowMs: row.window_ms,
    quietHours: row.quiet_hours === null ? null : (JSON.parse(row.quiet_hours) as QuietHours),
    isEnabled: row.enabled === 1,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
    raisedAt: row.raised_at,
    lastRaisedAt: row.last_raised_at,
    value: row.value,
    changes: row.changes,
  };
}

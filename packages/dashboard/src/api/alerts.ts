/** Alert rules of an environment, and the alerts that are raised now. */

import { queryOptions } from "@tanstack/react-query";
import { call, callForAll } from "./client.ts";

export const ALERT_KINDS = [
  "failure_rate",
  "failure_count",
  "queue_age",
  "refused_requests",
  "unmatched_events",
  "schema_drift",
  "missed_webhooks",
  "silence",
  "quota_used",
  "archive_failing",
] as const;
export type AlertKind = (typeof ALERT_KINDS)[number];

export interface AlertRuleFields {
  name: string;
  kind: AlertKind;
  function: string | null;
  /** Of `function`, `webhook` and `event`, a rule about silence has exactly one; other rules have neither of the last two. */
  webhook: string | null;
  event: string | null;
  /** Null for silence. */
  threshold: number | null;
  /** "usual": the rhythm of the last weeks decides how long a silence may last. */
  windowSeconds: number | "usual";
  quietHours: { from: string; to: string; timeZone: string } | null;
  enabled: boolean;
}

export interface AlertRule extends AlertRuleFields {
  id: string;
  raisedAt: string | null;
  lastRaisedAt: string | null;
  value: number | null;
}

const REFRESH_MS = 15_000;
const PAGE = { limit: 100 };

/** Those that are raised now. */
export const alertsQuery = (env: string) =>
  queryOptions({
    queryKey: ["alerts", env],
    queryFn: () => callForAll<AlertRule>("/alerts", { env, query: PAGE }),
    refetchInterval: REFRESH_MS,
  });

export const alertRulesQuery = (env: string) =>
  queryOptions({
    queryKey: ["alerts", env, "rules"],
    queryFn: () => callForAll<AlertRule>("/alert-rules", { env, query: PAGE }),
    refetchInterval: REFRESH_MS,
  });

/** Without an id, a new rule. */
export function saveAlertRule(env: string, id: string | null, body: AlertRuleFields): Promise<AlertRule> {
  if (id === null) return call<AlertRule>("/alert-rules", { method: "POST", env, body });
  return call<AlertRule>(`/alert-rules/${encodeURIComponent(id)}`, { method: "PUT", env, body });
}

export function deleteAlertRule(env: string, id: string): Promise<{ id: string }> {
  return call(`/alert-rules/${encodeURIComponent(id)}`, { method: "DELETE", env });
}

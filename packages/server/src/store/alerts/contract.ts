/** Alert rules of an environment, each with the state of its alert. Few rows, read whole. */

import type { EnvironmentId } from "@inlet/protocol";

export const ALERT_KINDS = ["failure_rate", "failure_count", "queue_age", "refused_requests", "unmatched_events", "schema_drift"] as const;
export type AlertKind = (typeof ALERT_KINDS)[number];

/** Hours of the day during which no alert is raised, such as `22:00` to `06:00`. */
export interface QuietHours {
  from: string;
  to: string;
  /** An IANA name; absent: UTC. */
  timeZone?: string;
}

export interface AlertRuleFields {
  name: string;
  kind: AlertKind;
  /** The function it measures; null: all functions. */
  functionId: string | null;
  /** The alert is raised at this value or above: a percentage, a count, or seconds. */
  threshold: number;
  /** The length of the window that is measured. */
  windowMs: number;
  quietHours: QuietHours | null;
  isEnabled: boolean;
}

export interface AlertRule extends AlertRuleFields {
  id: string;
  environmentId: EnvironmentId;
  createdAt: number;
  updatedAt: number;
  /** When the alert was raised; null: it is not raised now. */
  raisedAt: number | null;
  /** When it was last raised. */
  lastRaisedAt: number | null;
  /** The value measured when it was raised. */
  value: number | null;
  /** How often the alert was raised or resolved. */
  changes: number;
}

export interface AlertStore {
  /** Rules of every environment, oldest first. */
  alertRuleList(): Promise<AlertRule[]>;
  alertRuleInsert(rule: AlertRule): Promise<void>;
  /** Returns false if there is no such rule. */
  alertRuleUpdate(params: AlertRuleFields & { environmentId: EnvironmentId; id: string; updatedAt: number }): Promise<boolean>;
  /** Returns false if there is no such rule, or its alert has changed since `changes` was read. */
  alertRuleDelete(params: { environmentId: EnvironmentId; id: string; changes: number }): Promise<boolean>;
  /** Raises or resolves the alert. Returns false if it has changed since `changes` was read. */
  alertChange(params: {
    environmentId: EnvironmentId;
    id: string;
    changes: number;
    raisedAt: number | null;
    value: number | null;
  }): Promise<boolean>;
}

/** Alert rules of an environment, each with whether its alert is raised. Few rows, read whole. */

import type { EnvironmentId } from "@inlet/protocol";

export const ALERT_KINDS = ["failure_rate", "failure_count", "queue_age", "refused_requests", "unmatched_events"] as const;
export type AlertKind = (typeof ALERT_KINDS)[number];

/** Hours of the day in UTC during which nothing is raised, such as `22:00` to `06:00`. */
export interface QuietHours {
  from: string;
  to: string;
}

export interface AlertRuleFields {
  name: string;
  kind: AlertKind;
  /** The function it is about; null: all of them. */
  functionId: string | null;
  /** It is raised at this value or above: per cent, a number, or seconds. */
  threshold: number;
  /** What happened in so much time counts. */
  windowMs: number;
  quietHours: QuietHours | null;
  isEnabled: boolean;
}

export interface AlertRule extends AlertRuleFields {
  id: string;
  environmentId: EnvironmentId;
  createdAt: number;
  updatedAt: number;
  /** Since when the alert is raised; null: it is not. */
  raisedAt: number | null;
  /** When it was raised last. */
  lastRaisedAt: number | null;
  /** What was measured when it was raised. */
  value: number | null;
  /** How often the alert was raised or resolved. */
  changes: number;
}

export interface AlertStore {
  /** Of every environment, oldest first. */
  alertRuleList(): Promise<AlertRule[]>;
  alertRuleInsert(rule: AlertRule): Promise<void>;
  /** False: there is no such rule. */
  alertRuleUpdate(params: AlertRuleFields & { environmentId: EnvironmentId; id: string; updatedAt: number }): Promise<boolean>;
  alertRuleDelete(params: { environmentId: EnvironmentId; id: string }): Promise<boolean>;
  /** Raises or resolves the alert; false when it has changed since `changes` was read. */
  alertChange(params: {
    environmentId: EnvironmentId;
    id: string;
    changes: number;
    raisedAt: number | null;
    value: number | null;
  }): Promise<boolean>;
}

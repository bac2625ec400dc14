/** Alert rules of an environment, each with the state of its alert. Few rows, read whole. */

import type { EnvironmentId } from "@inlet/protocol";
import type { ActivitySubject } from "../activity/contract.ts";
import type { EventBatch } from "../events/contract.ts";
import type { ClaimedEntry } from "../queue/contract.ts";

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
  /** The webhook whose silence it notices; null for other rules. */
  webhookId: string | null;
  /** The event name whose silence it notices, which may end in `*`; null for other rules. */
  eventName: string | null;
  /** The alert is raised at this value or above: a percentage, a count, or seconds. Null for silence, where the window decides. */
  threshold: number | null;
  /** The length of the window that is measured; null: the usual rhythm decides how long a silence may be. */
  windowMs: number | null;
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
  /** Stores the event that resolves its alert, if that is raised, in the same transaction. */
  alertRuleDelete(params: AlertRuleVersion & { event: EventBatch | null }): Promise<AlertChanged>;
  /** Raises or resolves the alert, and stores the event that says so in the same transaction. */
  alertChange(params: AlertRuleVersion & Pick<AlertRule, "raisedAt" | "value"> & { event: EventBatch }): Promise<AlertChanged>;
}

/** A rule whose alert has not changed since `changes` was read. */
export type AlertRuleVersion = Pick<AlertRule, "environmentId" | "id" | "changes">;

export interface AlertChanged {
  /** False: there is no such rule any more, or its alert has changed since. Nothing was stored. */
  isDone: boolean;
  /** What the event starts, leased as its batch says. */
  leased: ClaimedEntry[];
}

/** What a rule measures, as people and functions see it. */
export function ruleMeasure({ kind, functionId, webhookId, eventName, threshold, windowMs }: AlertRule) {
  const subject = kind === "silence" ? { webhook: webhookId, event: eventName } : {};
  return { kind, function: functionId, ...subject, threshold, windowSeconds: windowMs === null ? "usual" : windowMs / 1_000 };
}

/** What a rule of kind `silence` listens to. */
export function silenceSubject(rule: Pick<AlertRule, "environmentId" | "functionId" | "webhookId" | "eventName">): ActivitySubject {
  const { environmentId, functionId, webhookId, eventName } = rule;
  if (webhookId !== null) return { environmentId, kind: "webhook", subject: webhookId };
  if (eventName !== null) return { environmentId, kind: "event", subject: eventName };
  return { environmentId, kind: "function", subject: functionId ?? "" };
}

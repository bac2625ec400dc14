/** Texts for what alert rules measure. */

import type { AlertKind, AlertRuleFields } from "../api/alerts.ts";
import { count, plural } from "../ui/numbers.ts";

const DAY_S = 86_400;

interface AlertWords {
  label: string;
  help: string;
  /** The unit of the threshold; null if there is none. */
  unit: string | null;
  /** The rule can be limited to one function. */
  takesFunction: boolean;
  /** Measures a time window, not the current state. */
  hasWindow: boolean;
}

export const ALERT_WORDS: Readonly<Record<AlertKind, AlertWords>> = {
  failure_rate: {
    label: "Failure rate",
    help: "The percentage of ended runs that failed.",
    unit: "percent",
    takesFunction: true,
    hasWindow: true,
  },
  failure_count: { label: "Failed runs", help: "How many runs failed.", unit: "runs", takesFunction: true, hasWindow: true },
  queue_age: {
    label: "Queue age",
    help: "How long the oldest call that is due has waited.",
    unit: "seconds",
    takesFunction: true,
    hasWindow: false,
  },
  refused_requests: {
    label: "Refused webhook requests",
    help: "Requests to webhooks of this environment that were not accepted.",
    unit: "requests",
    takesFunction: false,
    hasWindow: true,
  },
  unmatched_events: {
    label: "Unmatched events",
    help: "Events that neither started nor resumed a run.",
    unit: "events",
    takesFunction: false,
    hasWindow: true,
  },
  schema_drift: {
    label: "Schema drift",
    help: "Fields and types that events had for the first time.",
    unit: "changes",
    takesFunction: false,
    hasWindow: true,
  },
  missed_webhooks: {
    label: "Missed webhooks",
    help: "Requests that were never delivered, and that reconciliation recovered.",
    unit: "requests",
    takesFunction: false,
    hasWindow: true,
  },
  silence: {
    label: "Silence",
    help: "A webhook, an event or a function that was active has stopped.",
    unit: null,
    takesFunction: false,
    hasWindow: false,
  },
  quota_used: {
    label: "Quota used",
    help: "How much of the quota that is used most.",
    unit: "percent",
    takesFunction: false,
    hasWindow: false,
  },
  archive_failing: {
    label: "Archive fails",
    help: "How long the archive could not be written.",
    unit: "seconds",
    takesFunction: false,
    hasWindow: false,
  },
};

/** The rule as a sentence, such as "At least 20 % of runs of shop-pay fail within 5 min". */
export function ruleText(rule: AlertRuleFields): string {
  if (rule.kind === "silence") return silenceText(rule);
  const within = ALERT_WORDS[rule.kind].hasWindow ? ` within ${spanText(rule.windowSeconds)}` : "";
  const whose = rule.function === null ? "" : ` of ${rule.function}`;
  return `At least ${measured(rule, whose)}${within}`;
}

function silenceText({ webhook, event, function: functionId, windowSeconds }: AlertRuleFields): string {
  const what = webhook === null ? (event === null ? `No run of ${functionId} completes` : `No event ${event}`) : `No request to ${webhook}`;
  return windowSeconds === "usual" ? `${what} for longer than usual` : `${what} for ${spanText(windowSeconds)}`;
}

function measured({ kind, threshold: given }: Pick<AlertRuleFields, "kind" | "threshold">, whose: string): string {
  const threshold = given ?? 0;
  if (kind === "failure_rate") return `${threshold} % of runs${whose} fail`;
  if (kind === "failure_count") return `${plural(threshold, "run")}${whose} fail`;
  if (kind === "queue_age") return `${spanText(threshold)} of waiting in the queue${whose}`;
  if (kind === "refused_requests") return `${plural(threshold, "webhook request")} refused`;
  if (kind === "missed_webhooks") return `${plural(threshold, "missed webhook request")} recovered`;
  if (kind === "quota_used") return `${threshold} % of a quota used`;
  if (kind === "archive_failing") return `${spanText(threshold)} without a writable archive`;
  if (kind === "schema_drift") return `${plural(threshold, "new field or type", "new fields or types")} of events`;
  return plural(threshold, "unmatched event");
}

const SECONDS: ReadonlySet<AlertKind> = new Set(["queue_age", "silence", "archive_failing"]);

/** The measured value as text. */
export function valueText({ kind }: Pick<AlertRuleFields, "kind">, value: number): string {
  if (kind === "failure_rate" || kind === "quota_used") return `${Math.round(value * 10) / 10} %`;
  return SECONDS.has(kind) ? spanText(Math.round(value)) : count(value);
}

export function spanText(seconds: AlertRuleFields["windowSeconds"]): string {
  if (seconds === "usual") return "longer than usual";
  if (seconds >= DAY_S && seconds % DAY_S === 0) return plural(seconds / DAY_S, "day");
  if (seconds % 3_600 === 0) return `${seconds / 3_600} h`;
  return seconds % 60 === 0 ? `${seconds / 60} min` : `${seconds} s`;
}

/** The fields of an alert rule in a request: their schema, and what holds between them. */

import { eventNameFault } from "@inlet/protocol";
import type { ActivitySubject, AlertRule, AlertRuleFields, Environment, Webhook } from "../../store/contract/index.ts";
import { ALERT_KINDS, silenceSubject } from "../../store/contract/index.ts";
import { nameText } from "../name-text.ts";
import { invalid, RestRefusal } from "../rest-errors.ts";
import { closed } from "../rest-schemas.ts";
import { TIME_OF_DAY } from "../text-patterns.ts";

export interface RuleBody {
  name?: string;
  kind?: AlertRule["kind"];
  function?: string | null;
  webhook?: string | null;
  event?: string | null;
  threshold?: number | null;
  windowSeconds?: number | typeof USUAL;
  quietHours?: AlertRule["quietHours"];
  enabled?: boolean;
}

export interface CheckRuleParts {
  webhooks(): readonly Webhook[];
  silences: { rhythm(subject: ActivitySubject): Promise<{ rhythm: object | null; knownFrom: number }> };
}

export const RULES_MAX = 200;
/** Instead of a window: the rhythm of the last weeks decides. */
export const USUAL = "usual";
const DAY_S = 86_400;
const SILENCE_SECONDS_MAX = 56 * DAY_S;
const NAME_UNITS_MAX = 256;
/** Beside `silence`. */
const FUNCTION_KINDS: readonly AlertRule["kind"][] = ["failure_rate", "failure_count", "queue_age"];

const TIME = { type: "string", pattern: TIME_OF_DAY } as const;
const ZONE = { type: "string", maxLength: 64, description: "An IANA time zone, such as `Europe/Berlin`; default `UTC`." } as const;
export const QUIET = {
  description: "Hours of the day during which no alert is raised, or null.",
  anyOf: [{ type: "null" }, closed({ from: TIME, to: TIME, timeZone: ZONE }, ["from", "to"])],
} as const;

export const FIELDS = {
  name: nameText(128),
  kind: {
    type: "string",
    enum: ALERT_KINDS,
    description:
      "What is measured. `failure_rate` and `failure_count`: failed runs, in percent or as a number. `queue_age`: how many seconds the oldest call has waited. `refused_requests`: refused webhook requests. `unmatched_events`: events that neither started nor resumed a run. `schema_drift`: fields and types that were seen for the first time. `missed_webhooks`: requests that only reconciliation found. `silence`: nothing is accepted or completed any more. `quota_used`: the most used quota, in percent. `archive_failing`: for how many seconds the archive could not be written.",
  },
  function: {
    type: ["string", "null"],
    description: "Only this function, for the first three kinds; for `silence`, the function that must keep completing runs.",
  },
  webhook: { type: ["string", "null"], description: "Only with `silence`: the id of the webhook that must keep accepting requests." },
  event: {
    type: ["string", "null"],
    minLength: 1,
    maxLength: NAME_UNITS_MAX,
    description: "Only with `silence`: the name of the event that must keep arriving; it may end in `*`.",
  },
  threshold: { type: ["number", "null"], exclusiveMinimum: 0, description: "Raised at this value or above. Not with `silence`." },
  windowSeconds: {
    description: `The length of the measured window, in seconds, at most a day; default 300. With \`silence\` it is required: how long a silence may last, at most eight weeks, or \`"${USUAL}"\`: longer than any silence at the same time of the week in the last eight weeks.`,
    anyOf: [
      { type: "integer", minimum: 10, maximum: SILENCE_SECONDS_MAX },
      { type: "string", enum: [USUAL] },
    ],
  },
  quietHours: QUIET,
  enabled: { type: "boolean" },
} as const;

/** As a new rule has it, none was given. */
const NO_WINDOW = 0;
const WINDOW_MS = 300_000;

export const NEW_RULE: AlertRuleFields = {
  name: "",
  kind: "failure_count",
  functionId: null,
  webhookId: null,
  eventName: null,
  threshold: null,
  windowMs: NO_WINDOW,
  quietHours: null,
  isEnabled: true,
};
/** The fields in the body; the others stay unchanged. */
export function fieldsOf(known: AlertRuleFields, body: RuleBody): AlertRuleFields {
  const { name = known.name, kind = known.kind, threshold = known.threshold, enabled = known.isEnabled } = body;
  return {
    name,
    kind,
    threshold,
    isEnabled: enabled,
    functionId: body.function === undefined ? known.functionId : body.function,
    webhookId: body.webhook === undefined ? known.webhookId : body.webhook,
    eventName: body.event === undefined ? known.eventName : body.event,
    windowMs: windowOf(known, kind, body.windowSeconds),
    quietHours: body.quietHours === undefined ? known.quietHours : body.quietHours,
  };
}

function windowOf(known: AlertRuleFields, kind: AlertRule["kind"], windowSeconds: RuleBody["windowSeconds"]): number | null {
  if (windowSeconds === USUAL) return null;
  if (windowSeconds !== undefined) return windowSeconds * 1_000;
  return kind !== "silence" && known.windowMs === NO_WINDOW ? WINDOW_MS : known.windowMs;
}

/** Throws unless the fields make a rule. */
export async function checkRule(parts: CheckRuleParts, rule: AlertRule, environment: Environment): Promise<void> {
  checkQuietHours(rule.quietHours);
  if (rule.kind !== "silence") return checkThresholdRule(rule);
  if (rule.threshold !== null)
    throw invalid("threshold", "is not for rules of the kind silence, where the window decides: leave it out, or set it to null");
  checkSubject(rule);
  if (rule.windowMs === NO_WINDOW) throw invalid("windowSeconds", `is required: how long a silence may last, or "${USUAL}"`);
  if (rule.webhookId !== null) findWebhook(parts, rule.webhookId, environment);
  if (rule.windowMs === null) await checkRhythm(parts, rule);
}

function checkThresholdRule({ kind, threshold, functionId, webhookId, eventName, windowMs }: AlertRule): void {
  if (threshold === null) throw invalid("threshold", "is required");
  if (functionId !== null && !FUNCTION_KINDS.includes(kind))
    throw invalid("function", `is only for rules of the kinds ${FUNCTION_KINDS.join(", ")} and silence: leave it out, or set it to null`);
  if (webhookId !== null) throw invalid("webhook", "is only for rules of the kind silence: leave it out, or set it to null");
  if (eventName !== null) throw invalid("event", "is only for rules of the kind silence: leave it out, or set it to null");
  if (windowMs === null) throw invalid("windowSeconds", `can be "${USUAL}" only in rules of kind silence`);
  if (windowMs > DAY_S * 1_000) throw invalid("windowSeconds", `must be at most ${DAY_S} in rules of kind ${kind}`);
}

function checkSubject({ functionId, webhookId, eventName }: AlertRule): void {
  const given = [webhookId, eventName, functionId].filter((one) => one !== null).length;
  if (given !== 1) throw invalid("kind", "silence takes exactly one of webhook, event and function");
  const star = eventName?.indexOf("*") ?? -1;
  if (eventName !== null && star >= 0 && star < eventName.length - 1) throw invalid("event", "may have * only at its end");
  // Events of the service itself are no activity: a rule about them would never be resolved.
  const fault = eventName === null ? null : eventNameFault(eventName);
  if (fault !== null) throw invalid("event", fault);
}

function findWebhook({ webhooks }: CheckRuleParts, id: string, environment: Environment): void {
  const isThere = webhooks().some((one) => one.id === id && one.environmentId === environment.id && one.deletedAt === null);
  if (!isThere) throw new RestRefusal("webhook_not_found", `There is no webhook ${id} in the environment "${environment.name}".`);
}

async function checkRhythm({ silences }: CheckRuleParts, rule: AlertRule): Promise<void> {
  const { rhythm, knownFrom } = await silences.rhythm(silenceSubject(rule));
  if (rhythm) return;
  const day = new Date(knownFrom).toISOString().slice(0, "2026-01-01".length);
  const sentence = `The usual rhythm is learnt from at least 14 days of activity: it can be known from ${day} on.`;
  throw new RestRefusal("rhythm_unknown", `${sentence} Until then give windowSeconds as a number.`);
}

function checkQuietHours(quietHours: AlertRule["quietHours"]): void {
  if (!quietHours) return;
  const { from, to, timeZone = "UTC" } = quietHours;
  if (from === to) throw invalid("quietHours.to", "must differ from quietHours.from");
  try {
    new Intl.DateTimeFormat("en-GB", { timeZone });
  } catch {
    throw invalid("quietHours.timeZone", `must be a time zone such as "Europe/Berlin"; "${timeZone}" is not known`);
  }
}

/** REST: alert rules, and the alerts that are raised now. */

import type { FastifyInstance, FastifyRequest } from "fastify";
import { iso } from "../../observe/run-view.ts";
import { ALERT_KINDS, type AlertRule, type AlertRuleFields, type AlertStore, type Environment } from "../../store/contract/index.ts";
import type { AuditTrail } from "../access/audit-trail.ts";
import { type AccessRules, environmentOf } from "../access/rest-access.ts";
import { cutPage, type PageQuery } from "../list-page.ts";
import { invalid, RestRefusal } from "../rest-errors.ts";
import { closed, PAGE_PARAMETERS } from "../rest-schemas.ts";
import { BOOLEAN, dataOf, INSTANT, INSTANT_OR_NULL, INTEGER, NUMBER, pageOf, shape, TEXT, TEXT_OR_NULL } from "../route-facts.ts";

export interface AlertsRoutesParts {
  access: AccessRules;
  audit: AuditTrail;
  store: AlertStore;
  alerts: { resolveDeleted(rule: AlertRule): Promise<void> };
  newId(): string;
  now(): number;
}

interface RuleBody {
  name?: string;
  kind?: AlertRule["kind"];
  function?: string | null;
  threshold?: number;
  windowSeconds?: number;
  quietHours?: AlertRule["quietHours"];
  enabled?: boolean;
}

const RULES_MAX = 200;
const TIME = { type: "string", pattern: "^([01]\\d|2[0-3]):[0-5]\\d$" } as const;
const ZONE = { type: "string", maxLength: 64, description: "An IANA time zone, such as `Europe/Berlin`; default `UTC`." } as const;
const QUIET = {
  description: "Hours of the day during which no alert is raised, or null.",
  anyOf: [{ type: "null" }, closed({ from: TIME, to: TIME, timeZone: ZONE }, ["from", "to"])],
} as const;
const FIELDS = {
  name: { type: "string", minLength: 1, maxLength: 128 },
  kind: {
    type: "string",
    enum: ALERT_KINDS,
    description:
      "What is measured: failed runs as a percentage or a number, the age of the oldest waiting call in seconds, refused webhook requests, events without a subscriber, or schema drift: fields and types seen for the first time.",
  },
  function: { type: ["string", "null"], description: "Only this function, for the first three kinds." },
  threshold: { type: "number", exclusiveMinimum: 0, description: "Raised at this value or above." },
  windowSeconds: {
    type: "integer",
    minimum: 10,
    maximum: 86_400,
    description: "The length of the measured window, in seconds; default 300.",
  },
  quietHours: QUIET,
  enabled: { type: "boolean" },
} as const;

const RULE = shape(
  {
    ...{ id: TEXT, environment: TEXT, name: TEXT, kind: { type: "string", enum: ALERT_KINDS }, function: TEXT_OR_NULL },
    ...{ threshold: NUMBER, windowSeconds: INTEGER, quietHours: QUIET, enabled: BOOLEAN, createdAt: INSTANT, updatedAt: INSTANT },
    raisedAt: { ...INSTANT_OR_NULL, description: "Since when the alert is raised." },
    lastRaisedAt: { ...INSTANT_OR_NULL, description: "When the alert was last raised, whether or not it is raised now." },
    value: { type: ["number", "null"], description: "What was measured when it was raised." },
  },
  { title: "AlertRule" },
);
const NONE = closed({});
const ONE = { querystring: NONE, response: { 200: dataOf(RULE) }, errors: ["alert_rule_not_found"] } as const;

export function registerAlertsRoutes(app: FastifyInstance, { access, audit, store, alerts, newId, now }: AlertsRoutesParts): void {
  const rulesOf = async ({ id }: Environment) => (await store.alertRuleList()).filter(({ environmentId }) => environmentId === id);
  const note = (request: FastifyRequest, action: string, { id, name }: AlertRule, environment: Environment) =>
    audit.note(request, { action: `alert_rule.${action}`, target: { kind: "alert_rule", id, name }, environment: environment.name });

  async function find(environment: Environment, id: string): Promise<AlertRule> {
    const rule = (await rulesOf(environment)).find((one) => one.id === id);
    if (rule) return rule;
    throw new RestRefusal("alert_rule_not_found", `There is no alert rule ${id} in the environment "${environment.name}".`);
  }

  function pageOfRules(rules: readonly AlertRule[], environment: Environment, query: PageQuery) {
    const { items, next } = cutPage(rules, ({ createdAt, id }) => ({ rank: createdAt, id }), query);
    return { data: items.map((rule) => ruleView(rule, environment)), page: { next } };
  }

  const list = { querystring: closed(PAGE_PARAMETERS), response: { 200: pageOf(RULE) } };
  app.get<{ Querystring: PageQuery }>("/alert-rules", { schema: { ...list, summary: "List alert rules" } }, async (request) => {
    const environment = environmentOf(access, request);
    return pageOfRules(await rulesOf(environment), environment, request.query);
  });

  app.get<{ Querystring: PageQuery }>("/alerts", { schema: { ...list, summary: "List alerts that are raised now" } }, async (request) => {
    const environment = environmentOf(access, request);
    const raised = (await rulesOf(environment)).filter(({ raisedAt }) => raisedAt !== null);
    return pageOfRules(raised, environment, request.query);
  });

  const create = {
    summary: "Create an alert rule",
    querystring: NONE,
    body: closed(FIELDS, ["name", "kind", "threshold"]),
    response: { 201: dataOf(RULE) },
  };
  app.post<{ Body: RuleBody }>(
    "/alert-rules",
    { config: { repair: true, idempotent: "replayed" }, schema: create },
    async (request, reply) => {
      const environment = environmentOf(access, request);
      if ((await rulesOf(environment)).length >= RULES_MAX) throw invalid("name", `would be one of more than ${RULES_MAX} rules`);
      const at = now();
      const state = { createdAt: at, updatedAt: at, raisedAt: null, lastRaisedAt: null, value: null, changes: 0 };
      const rule: AlertRule = { id: `alr_${newId()}`, environmentId: environment.id, ...fieldsOf(NEW_RULE, request.body), ...state };
      await store.alertRuleInsert(rule);
      await note(request, "created", rule, environment);
      reply.code(201);
      return { data: ruleView(rule, environment) };
    },
  );

  const update = { ...ONE, summary: "Change an alert rule", description: "Changes the fields given.", body: closed(FIELDS) };
  app.put<{ Params: { id: string }; Body: RuleBody }>("/alert-rules/:id", { config: { repair: true }, schema: update }, async (request) => {
    const environment = environmentOf(access, request);
    const known = await find(environment, request.params.id);
    const changed = { ...known, ...fieldsOf(known, request.body), updatedAt: now() };
    await store.alertRuleUpdate(changed);
    await note(request, "updated", changed, environment);
    return { data: ruleView(changed, environment) };
  });

  /** An alert that is raised is resolved first. Tried again if the alert changes in between. */
  async function removed(environment: Environment, id: string): Promise<AlertRule> {
    const { id: environmentId } = environment;
    for (;;) {
      const rule = await find(environment, id);
      if (rule.raisedAt !== null) await alerts.resolveDeleted(rule);
      const changes = rule.changes + (rule.raisedAt === null ? 0 : 1);
      if (await store.alertRuleDelete({ environmentId, id, changes })) return rule;
    }
  }

  const description = "An alert that is raised is resolved: `inlet/alert.resolved` is emitted with the reason `rule_deleted`.";
  const remove = { ...ONE, summary: "Delete an alert rule", description, response: { 200: dataOf(shape({ id: TEXT })) } };
  app.delete<{ Params: { id: string } }>("/alert-rules/:id", { config: { repair: true }, schema: remove }, async (request) => {
    const environment = environmentOf(access, request);
    const rule = await removed(environment, request.params.id);
    await note(request, "deleted", rule, environment);
    return { data: { id: rule.id } };
  });
}

const NEW_RULE: AlertRuleFields = {
  ...{ name: "", kind: "failure_count", functionId: null, threshold: 1, windowMs: 300_000, quietHours: null, isEnabled: true },
};

/** The fields in the body; the others stay unchanged. */
function fieldsOf(known: AlertRuleFields, body: RuleBody): AlertRuleFields {
  checkQuietHours(body.quietHours);
  const { name = known.name, kind = known.kind, threshold = known.threshold, enabled = known.isEnabled } = body;
  return {
    ...{ name, kind, threshold, isEnabled: enabled },
    functionId: body.function === undefined ? known.functionId : body.function,
    windowMs: body.windowSeconds === undefined ? known.windowMs : body.windowSeconds * 1_000,
    quietHours: body.quietHours === undefined ? known.quietHours : body.quietHours,
  };
}

function checkQuietHours(quietHours: RuleBody["quietHours"]): void {
  if (!quietHours) return;
  const { from, to, timeZone = "UTC" } = quietHours;
  if (from === to) throw invalid("quietHours.to", "must differ from quietHours.from");
  try {
    new Intl.DateTimeFormat("en-GB", { timeZone });
  } catch {
    throw invalid("quietHours.timeZone", `must be a time zone such as "Europe/Berlin"; "${timeZone}" is not known`);
  }
}

function ruleView(rule: AlertRule, environment: Environment) {
  const { id, name, kind, functionId, threshold, windowMs, quietHours, isEnabled, value } = rule;
  return {
    ...{ id, environment: environment.name, name, kind, function: functionId, threshold, windowSeconds: windowMs / 1_000 },
    quietHours: quietHours && { timeZone: "UTC", ...quietHours },
    ...{ enabled: isEnabled, createdAt: iso(rule.createdAt), updatedAt: iso(rule.updatedAt), raisedAt: iso(rule.raisedAt) },
    ...{ lastRaisedAt: iso(rule.lastRaisedAt), value },
  };
}

/** REST: alert rules, and the alerts that are raised now. */

import type { FastifyInstance, FastifyRequest } from "fastify";
import { iso } from "../../observe/run-view.ts";
import {
  ALERT_KINDS,
  type AlertRule,
  type AlertStore,
  databaseOf,
  type Environment,
  ruleMeasure,
  type Store,
} from "../../store/contract/index.ts";
import type { AuditTrail } from "../access/audit-trail.ts";
import { type AccessRules, environmentOf } from "../access/rest-access.ts";
import { cutPage, type PageQuery } from "../list-page.ts";
import { invalid, RestRefusal } from "../rest-errors.ts";
import { closed, PAGE_PARAMETERS } from "../rest-schemas.ts";
import { BOOLEAN, dataOf, INSTANT, INSTANT_OR_NULL, pageOf, shape, TEXT, TEXT_OR_NULL } from "../route-facts.ts";
import { type CheckRuleParts, checkRule, FIELDS, fieldsOf, NEW_RULE, QUIET, RULES_MAX, type RuleBody, USUAL } from "./rule-fields.ts";

export interface AlertsRoutesParts {
  access: AccessRules;
  audit: AuditTrail;
  store: AlertStore & Pick<Store, "storeDatabases" | "storeDatabaseOf">;
  alerts: { resolveDeleted(rule: AlertRule): Promise<void> };
  silences: CheckRuleParts["silences"];
  directory: { webhooks: CheckRuleParts["webhooks"] };
  newId(): string;
  now(): number;
}

const RULE = shape(
  {
    id: TEXT,
    environment: TEXT,
    name: TEXT,
    kind: { type: "string", enum: ALERT_KINDS },
    function: TEXT_OR_NULL,
    webhook: { ...TEXT_OR_NULL, description: "The webhook whose silence the rule notices." },
    event: { ...TEXT_OR_NULL, description: "The event name whose silence the rule notices." },
    threshold: { type: ["number", "null"], description: "Null for `silence`." },
    windowSeconds: { anyOf: [{ type: "integer" }, { type: "string", enum: [USUAL] }] },
    quietHours: QUIET,
    enabled: BOOLEAN,
    createdAt: INSTANT,
    updatedAt: INSTANT,
    raisedAt: { ...INSTANT_OR_NULL, description: "Since when the alert is raised." },
    lastRaisedAt: { ...INSTANT_OR_NULL, description: "When the alert was last raised, whether or not it is raised now." },
    value: { type: ["number", "null"], description: "What was measured when it was raised." },
  },
  { title: "AlertRule" },
);
const NONE = closed({});
const CHANGE_ERRORS = ["alert_rule_not_found", "webhook_not_found", "rhythm_unknown"] as const;
const ONE = { querystring: NONE, response: { 200: dataOf(RULE) }, errors: ["alert_rule_not_found"] } as const;

export function registerAlertsRoutes(app: FastifyInstance, parts: AlertsRoutesParts): void {
  const { access, audit, store, alerts, silences, newId, now } = parts;
  const webhooks = () => parts.directory.webhooks();
  const rulesOf = async ({ id }: Environment) =>
    (await databaseOf(store, id).store.alertRuleList()).filter(({ environmentId }) => environmentId === id);
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
  app.get<{ Querystring: PageQuery }>(
    "/alert-rules",
    { config: { about: "environment" }, schema: { ...list, summary: "List alert rules" } },
    async (request) => {
      const environment = environmentOf(access, request);
      return pageOfRules(await rulesOf(environment), environment, request.query);
    },
  );

  app.get<{ Querystring: PageQuery }>(
    "/alerts",
    { config: { about: "environment" }, schema: { ...list, summary: "List alerts that are raised now" } },
    async (request) => {
      const environment = environmentOf(access, request);
      const raised = (await rulesOf(environment)).filter(({ raisedAt }) => raisedAt !== null);
      return pageOfRules(raised, environment, request.query);
    },
  );

  app.get<{ Params: { id: string } }>(
    "/alert-rules/:id",
    { config: { about: "environment" }, schema: { ...ONE, summary: "Get an alert rule" } },
    async (request) => {
      const environment = environmentOf(access, request);
      return { data: ruleView(await find(environment, request.params.id), environment) };
    },
  );

  const create = {
    summary: "Create an alert rule",
    querystring: NONE,
    description: "Rules of kind `silence` take exactly one of `webhook`, `event` and `function`, and no threshold; others need one.",
    body: closed(FIELDS, ["name", "kind"]),
    response: { 201: dataOf(RULE) },
    errors: ["webhook_not_found", "rhythm_unknown"],
  } as const;
  app.post<{ Body: RuleBody }>(
    "/alert-rules",
    { config: { about: "environment", repair: true, idempotent: "replayed" }, schema: create },
    async (request, reply) => {
      const environment = environmentOf(access, request);
      if ((await rulesOf(environment)).length >= RULES_MAX) throw invalid("name", `would be one of more than ${RULES_MAX} rules`);
      const at = now();
      const state = { createdAt: at, updatedAt: at, raisedAt: null, lastRaisedAt: null, value: null, changes: 0 };
      const rule: AlertRule = { id: `alr_${newId()}`, environmentId: environment.id, ...fieldsOf(NEW_RULE, request.body), ...state };
      await checkRule({ webhooks, silences }, rule, environment);
      await store.alertRuleInsert(rule);
      await note(request, "created", rule, environment);
      reply.code(201);
      return { data: ruleView(rule, environment) };
    },
  );

  const update = {
    ...ONE,
    summary: "Change an alert rule",
    description: "Changes the fields given.",
    body: closed(FIELDS),
    errors: CHANGE_ERRORS,
  };
  app.put<{ Params: { id: string }; Body: RuleBody }>(
    "/alert-rules/:id",
    { config: { about: "environment", repair: true }, schema: update },
    async (request) => {
      const environment = environmentOf(access, request);
      const known = await find(environment, request.params.id);
      const changed = { ...known, ...fieldsOf(known, request.body), updatedAt: now() };
      await checkRule({ webhooks, silences }, changed, environment);
      await store.alertRuleUpdate(changed);
      await note(request, "updated", changed, environment);
      return { data: ruleView(changed, environment) };
    },
  );

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
  app.delete<{ Params: { id: string } }>(
    "/alert-rules/:id",
    { config: { about: "environment", repair: true }, schema: remove },
    async (request) => {
      const environment = environmentOf(access, request);
      const rule = await removed(environment, request.params.id);
      await note(request, "deleted", rule, environment);
      return { data: { id: rule.id } };
    },
  );
}

function ruleView(rule: AlertRule, environment: Environment) {
  const { id, name, quietHours, isEnabled, value } = rule;
  return {
    id,
    environment: environment.name,
    name,
    webhook: null,
    event: null,
    ...ruleMeasure(rule),
    quietHours: quietHours && { timeZone: "UTC", ...quietHours },
    enabled: isEnabled,
    createdAt: iso(rule.createdAt),
    updatedAt: iso(rule.updatedAt),
    raisedAt: iso(rule.raisedAt),
    lastRaisedAt: iso(rule.lastRaisedAt),
    value,
  };
}

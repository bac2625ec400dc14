/** REST: alert rules, and the alerts that are raised now. */

import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
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
  /** False if the alert has changed since the rule was read. */
  alerts: { remove(rule: AlertRule): Promise<boolean> };
  silences: CheckRuleParts["silences"];
  directory: { webhooks: CheckRuleParts["webhooks"] };
  newId(): string;
  now(): number;
}

type Parts = AlertsRoutesParts;
type ListRequest = { Querystring: PageQuery };
type ById = { Params: { id: string } };
type WithRule = { Body: RuleBody };

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
const PAGE = { querystring: closed(PAGE_PARAMETERS), response: { 200: pageOf(RULE) } };
const LIST = { ...PAGE, summary: "List alert rules" };
const LIST_RAISED = { ...PAGE, summary: "List alerts that are raised now" };
const ONE = { querystring: closed({}), response: { 200: dataOf(RULE) }, errors: ["alert_rule_not_found"] } as const;
const GET = { ...ONE, summary: "Get an alert rule" };
const CREATE = {
  summary: "Create an alert rule",
  querystring: closed({}),
  description: "Rules of kind `silence` take exactly one of `webhook`, `event` and `function`, and no threshold; others need one.",
  body: closed(FIELDS, ["name", "kind"]),
  response: { 201: dataOf(RULE) },
  errors: ["webhook_not_found", "rhythm_unknown"],
} as const;
const UPDATE = {
  ...ONE,
  summary: "Change an alert rule",
  description: "Changes the fields given.",
  body: closed(FIELDS),
  errors: ["alert_rule_not_found", "webhook_not_found", "rhythm_unknown"],
} as const;
const REMOVE = {
  ...ONE,
  summary: "Delete an alert rule",
  description: "An alert that is raised is resolved: `inlet/alert.resolved` is emitted with the reason `rule_deleted`.",
  response: { 200: dataOf(shape({ id: TEXT })) },
};

export function registerAlertsRoutes(app: FastifyInstance, parts: Parts): void {
  const [read, repair] = [{ about: "environment" }, { about: "environment", repair: true }] as const;
  app.get<ListRequest>("/alert-rules", { config: read, schema: LIST }, (request) => listRules(parts, request));
  app.get<ListRequest>("/alerts", { config: read, schema: LIST_RAISED }, (request) => listRaised(parts, request));
  app.get<ById>("/alert-rules/:id", { config: read, schema: GET }, (request) => getRule(parts, request));
  app.post<WithRule>("/alert-rules", { config: { ...repair, idempotent: "replayed" }, schema: CREATE }, (request, reply) =>
    createRule(parts, request, reply),
  );
  app.put<ById & WithRule>("/alert-rules/:id", { config: { ...repair, byId: true }, schema: UPDATE }, (request) =>
    updateRule(parts, request),
  );
  app.delete<ById>("/alert-rules/:id", { config: { ...repair, byId: true }, schema: REMOVE }, (request) => removeRule(parts, request));
}

async function listRules(parts: Parts, request: FastifyRequest<ListRequest>) {
  const environment = environmentOf(parts.access, request);
  return pageOfRules(await rulesOf(parts, environment), environment, request.query);
}

async function listRaised(parts: Parts, request: FastifyRequest<ListRequest>) {
  const environment = environmentOf(parts.access, request);
  const raised = (await rulesOf(parts, environment)).filter(({ raisedAt }) => raisedAt !== null);
  return pageOfRules(raised, environment, request.query);
}

async function getRule(parts: Parts, request: FastifyRequest<ById>) {
  const environment = environmentOf(parts.access, request);
  return { data: ruleView(await findRule(parts, environment, request.params.id), environment) };
}

async function createRule(parts: Parts, request: FastifyRequest<WithRule>, reply: FastifyReply) {
  const environment = environmentOf(parts.access, request);
  if ((await rulesOf(parts, environment)).length >= RULES_MAX) throw invalid("name", `would be one of more than ${RULES_MAX} rules`);
  const at = parts.now();
  const state = { createdAt: at, updatedAt: at, raisedAt: null, lastRaisedAt: null, value: null, changes: 0 };
  const rule: AlertRule = { id: `alr_${parts.newId()}`, environmentId: environment.id, ...fieldsOf(NEW_RULE, request.body), ...state };
  await check(parts, rule, environment);
  await parts.store.alertRuleInsert(rule);
  await note(parts, request, "created", rule, environment);
  reply.code(201);
  return { data: ruleView(rule, environment) };
}

async function updateRule(parts: Parts, request: FastifyRequest<ById & WithRule>) {
  const environment = environmentOf(parts.access, request);
  const known = await findRule(parts, environment, request.params.id);
  const changed = { ...known, ...fieldsOf(known, request.body), updatedAt: parts.now() };
  await check(parts, changed, environment);
  await parts.store.alertRuleUpdate(changed);
  await note(parts, request, "updated", changed, environment);
  return { data: ruleView(changed, environment) };
}

async function removeRule(parts: Parts, request: FastifyRequest<ById>) {
  const environment = environmentOf(parts.access, request);
  const rule = await removeAlertRule(parts, environment, request.params.id);
  await note(parts, request, "deleted", rule, environment);
  return { data: { id: rule.id } };
}

/** Resolves its alert, if that is raised. Tried again if the alert changes in between. */
export async function removeAlertRule(parts: Pick<Parts, "store" | "alerts">, environment: Environment, id: string): Promise<AlertRule> {
  for (;;) {
    const rule = await findRule(parts, environment, id);
    if (await parts.alerts.remove(rule)) return rule;
  }
}

async function rulesOf({ store }: Pick<Parts, "store">, { id }: Environment): Promise<AlertRule[]> {
  return (await databaseOf(store, id).store.alertRuleList()).filter(({ environmentId }) => environmentId === id);
}

async function findRule(parts: Pick<Parts, "store">, environment: Environment, id: string): Promise<AlertRule> {
  const rule = (await rulesOf(parts, environment)).find((one) => one.id === id);
  if (rule) return rule;
  throw new RestRefusal("alert_rule_not_found", `There is no alert rule ${id} in the environment "${environment.name}".`);
}

function check({ directory, silences }: Parts, rule: AlertRule, environment: Environment): Promise<void> {
  return checkRule({ webhooks: () => directory.webhooks(), silences }, rule, environment);
}

function note({ audit }: Parts, request: FastifyRequest, action: string, { id, name }: AlertRule, environment: Environment): Promise<void> {
  const target = { kind: "alert_rule", id, name };
  return audit.note(request, { action: `alert_rule.${action}`, target, environment: environment.name });
}

function pageOfRules(rules: readonly AlertRule[], environment: Environment, query: PageQuery) {
  const { items, next } = cutPage(rules, ({ createdAt, id }) => ({ rank: createdAt, id }), query);
  return { data: items.map((rule) => ruleView(rule, environment)), page: { next } };
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

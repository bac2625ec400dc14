/** REST: failed runs, grouped by function and the pattern of their error, and what people decided about the groups. */

import { DAY_MS } from "@inlet/protocol";
import type { FastifyInstance } from "fastify";
import { type FailureStateName, failureKey, failureStateOf } from "../../observe/failure-state.ts";
import { iso } from "../../observe/run-view.ts";
import type { Environment, FailureGroup, FailureState, FailureStateStore, RunStore, StoreViews } from "../../store/contract/index.ts";
import type { AuditTrail } from "../access/audit-trail.ts";
import { principalOf } from "../access/principal.ts";
import { type AccessRules, environmentOf } from "../access/rest-access.ts";
import { hiddenFromSearch } from "../approvals/mask-links.ts";
import { readInstant } from "../instant.ts";
import { cutPage, type PageQuery } from "../list-page.ts";
import { RestRefusal } from "../rest-errors.ts";
import { DECIDE, LIST } from "./failure-schemas.ts";
import type { RunsRoutesParts } from "./runs-routes.ts";

export interface FailuresRoutesParts {
  access: AccessRules;
  audit: AuditTrail;
  store: RunStore & FailureStateStore;
  views: StoreViews;
  runs: Pick<RunsRoutesParts["runs"], "functionName" | "functionNos">;
  now(): number;
}

/** Those that the store finds, and those that a list shows. */
const GROUPS_FOUND_MAX = 1_000;
const GROUPS_MAX = 100;

interface ListQuery extends PageQuery {
  function?: string;
  from?: string;
  to?: string;
  state?: FailureStateName;
  q?: string;
}

interface Decision {
  function: string;
  pattern: string;
  state: FailureStateName;
}

export function registerFailuresRoutes(app: FastifyInstance, parts: FailuresRoutesParts): void {
  const { access, audit, store, views, runs, now } = parts;

  app.get<{ Querystring: ListQuery }>("/failures", { config: { about: "environment" }, schema: LIST }, async (request) => {
    const environment = environmentOf(access, request);
    const { state, q } = request.query;
    const { hidden } = hiddenFromSearch(access, request);
    const [groups, decided] = await Promise.all([
      views.runFailures(failureParams(parts, environment, request.query)),
      views.failureStateList({ environmentId: environment.id }),
    ]);
    const byKey = new Map(decided.map((one) => [one.key, one]));
    const shown = groups
      .map((group) => failureView(group, runs.functionName(group.functionNo), byKey))
      .filter((failure) => (state === undefined || failure.state === state) && (q === undefined || hasText(failure, q, hidden)))
      .slice(0, GROUPS_MAX);
    const { items, next } = cutPage([...shown.entries()], ([index]) => ({ rank: -index }), request.query);
    return { data: items.map(([, failure]) => failure), page: { next } };
  });

  app.put<{ Body: Decision }>("/failures", { config: { about: "environment", repair: true }, schema: DECIDE }, async (request) => {
    const environment = environmentOf(access, request);
    const { function: functionId, pattern, state } = request.body;
    if (runs.functionNos(environment, functionId).length === 0) {
      throw new RestRefusal("function_not_found", `There is no function ${functionId} in the environment "${environment.name}".`);
    }
    const of = { environmentId: environment.id, key: failureKey(functionId, pattern) };
    if (state === "open") await store.failureStateDelete(of);
    else await store.failureStateSet({ ...of, decision: state, decidedAt: now(), decidedBy: principalOf(request).name });
    const target = { kind: "failure", id: functionId, name: functionId };
    await audit.note(request, { action: `failure.${state}`, target, environment: environment.name, details: {} });
    return { data: { function: functionId, pattern, state } };
  });
}

function failureParams({ runs, now }: FailuresRoutesParts, environment: Environment, { function: functionId, from, to }: ListQuery) {
  const before = to === undefined ? null : readInstant("to", to);
  return {
    environmentId: environment.id,
    limit: GROUPS_FOUND_MAX,
    until: Math.min(before ?? Number.POSITIVE_INFINITY, now()),
    from: from === undefined ? now() - DAY_MS : readInstant("from", from),
    ...(before !== null && { to: before }),
    ...(functionId !== undefined && { functionNos: runs.functionNos(environment, functionId) }),
  };
}

function failureView(group: FailureGroup, { id, name: functionName }: { id: string; name: string }, byKey: Map<string, FailureState>) {
  const { name, message, pattern, count, rerunCount, trend, firstAt, lastAt, runIds } = group;
  const decided = byKey.get(failureKey(id, pattern));
  const state = failureStateOf(group, decided);
  return {
    function: { id, name: functionName },
    error: { name, message, pattern },
    count,
    rerun: rerunCount,
    first: iso(firstAt),
    last: iso(lastAt),
    runs: runIds,
    trend,
    state,
    decided: decided ? { state: decided.decision, at: iso(decided.decidedAt), by: decided.decidedBy } : null,
  };
}

function hasText({ function: fn, error }: ReturnType<typeof failureView>, text: string, hidden: RegExp | undefined): boolean {
  const texts = [fn.id, fn.name, `${error.name}: ${error.message}`, error.pattern];
  return texts.some((one) => one.toLowerCase().includes(text.toLowerCase()) && !hidden?.test(one));
}

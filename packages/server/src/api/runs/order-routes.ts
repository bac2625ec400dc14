/** REST: keys of ordered functions that are blocked by a failed run. */

import { type FunctionNo, isEventId, type RunId } from "@inlet/protocol";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { iso } from "../../observe/run-view.ts";
import type { Environment, OrderHold, OrderStore, RunStore, StoreViews } from "../../store/contract/index.ts";
import type { AuditTrail } from "../access/audit-trail.ts";
import { type AccessRules, environmentOf } from "../access/rest-access.ts";
import { wrongCursor } from "../cursors.ts";
import type { PageQuery } from "../list-page.ts";
import { RestRefusal } from "../rest-errors.ts";
import { closed, PAGE_PARAMETERS } from "../rest-schemas.ts";
import { dataOf, INSTANT, INTEGER, pageOf, shape, TEXT, TEXT_OR_NULL } from "../route-facts.ts";

export interface OrderRoutesParts {
  access: AccessRules;
  audit: AuditTrail;
  store: OrderStore & RunStore;
  views: StoreViews;
  runs: {
    functionName(no: FunctionNo): { id: string; name: string };
    functionNos(environment: Environment, functionId: string): readonly FunctionNo[];
  };
}

type ListRequest = { Querystring: PageQuery & { function?: string } };
type ById = { Params: { id: string } };

const KEY = {
  ...TEXT_OR_NULL,
  description: "The value of the function's ordering key, as JSON text; null if the run has been removed or its event erased.",
};
const HOLD = shape(
  {
    id: { ...TEXT, description: "Names the hold, also after its run has been removed." },
    function: shape({ id: TEXT, name: TEXT }),
    key: KEY,
    runId: { ...TEXT_OR_NULL, description: "The run that failed; null if it has been removed." },
    heldAt: INSTANT,
    waiting: { ...INTEGER, description: "How many runs of the key wait." },
  },
  { title: "OrderHold" },
);
const LIST = {
  summary: "List keys on hold",
  description: "The ordering keys whose last run failed, for functions with `ordering` and `onFailure: hold`, in the order of these runs.",
  querystring: closed({
    ...PAGE_PARAMETERS,
    function: { type: "string", minLength: 1, description: "Keys of the function with this id." },
  }),
  response: { 200: pageOf(HOLD) },
};
const RELEASE = {
  summary: "Release the ordering key that a failed run blocks",
  description:
    "Starts the next run of the key. To keep the order, rerun the failed run instead: the key continues when the rerun completes.",
  querystring: closed({}),
  response: { 200: dataOf(shape({ runId: TEXT, key: KEY })) },
  errors: ["run_not_found", "run_holds_nothing"],
} as const;
const RELEASE_HOLD = {
  summary: "Release an ordering key on hold",
  description: "Starts the next run of the key, even if the failed run has been removed.",
  querystring: closed({}),
  response: { 200: dataOf(shape({ id: TEXT, function: shape({ id: TEXT, name: TEXT }), key: KEY, runId: TEXT_OR_NULL })) },
  errors: ["hold_not_found"],
} as const;

const POSITION = /^\d{1,15}$/;

export function registerOrderRoutes(app: FastifyInstance, parts: OrderRoutesParts): void {
  const [read, repair] = [{ about: "environment" }, { about: "environment", repair: true, byId: true }] as const;
  app.get<ListRequest>("/holds", { config: read, schema: LIST }, (request) => listHolds(parts, request));
  app.post<ById>("/holds/:id/release", { config: repair, schema: RELEASE_HOLD }, (request) => releaseHold(parts, request));
  app.post<ById>("/runs/:id/release", { config: repair, schema: RELEASE }, (request) => releaseRun(parts, request));
}

async function listHolds({ access, views, runs }: OrderRoutesParts, request: FastifyRequest<ListRequest>) {
  const environment = environmentOf(access, request);
  const { limit, cursor, function: functionId } = request.query;
  const functionNos = functionId === undefined ? {} : { functionNos: runs.functionNos(environment, functionId) };
  const { holds, next } = await views.orderHoldList({ environmentId: environment.id, limit, ...after(cursor), ...functionNos });
  return { data: holds.map((hold) => holdView(runs, hold)), page: { next: next === null ? null : String(next) } };
}

async function releaseHold({ access, audit, store, runs }: OrderRoutesParts, request: FastifyRequest<ById>) {
  const environment = environmentOf(access, request);
  const position = POSITION.test(request.params.id) ? Number(request.params.id) : null;
  const released = position === null ? null : await store.orderHoldRelease({ environmentId: environment.id, position });
  if (!released) {
    const message = `No key on hold with the id ${request.params.id} exists in the environment "${environment.name}".`;
    throw new RestRefusal("hold_not_found", message);
  }
  const { id, function: fn, key, runId } = holdView(runs, released);
  const target = { kind: "hold", id, name: fn.id };
  await audit.note(request, { action: "hold.released", target, environment: environment.name, details: { runId } });
  return { data: { id, function: fn, key, runId } };
}

async function releaseRun({ access, audit, store, runs }: OrderRoutesParts, request: FastifyRequest<ById>) {
  const environment = environmentOf(access, request);
  const id = request.params.id.toUpperCase();
  const run = isEventId(id) ? await store.runGet({ environmentId: environment.id, id: id as string as RunId }) : null;
  if (!run) throw new RestRefusal("run_not_found", `There is no run ${request.params.id} in the environment "${environment.name}".`);
  const isReleased = await store.orderRelease({ environmentId: environment.id, runNo: run.no });
  if (!isReleased) throw new RestRefusal("run_holds_nothing", `The run ${run.id} does not block other runs.`);
  const target = { kind: "run", id: run.id, name: runs.functionName(run.functionNo).id };
  await audit.note(request, { action: "run.released", target, environment: environment.name });
  return { data: { runId: run.id, key: run.orderKey } };
}

function holdView(runs: OrderRoutesParts["runs"], { position, functionNo, heldAt, ...hold }: OrderHold) {
  const { id, name } = runs.functionName(functionNo);
  return { id: String(position), function: { id, name }, ...hold, heldAt: iso(heldAt) };
}

function after(cursor: string | undefined): { after?: number } {
  if (cursor === undefined) return {};
  if (!POSITION.test(cursor)) throw wrongCursor();
  return { after: Number(cursor) };
}

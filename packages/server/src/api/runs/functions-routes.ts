/** REST: the functions that apps registered. */

import type { FunctionNo } from "@inlet/protocol";
import type { FastifyInstance, FastifyRequest } from "fastify";
import type { Environment } from "../../store/contract/index.ts";
import type { AuditTrail } from "../access/audit-trail.ts";
import { type AccessRules, environmentOf } from "../access/rest-access.ts";
import { cutPage, type PageQuery } from "../list-page.ts";
import { RestRefusal } from "../rest-errors.ts";
import { closed, PAGE_PARAMETERS } from "../rest-schemas.ts";
import { dataOf, pageOf } from "../route-facts.ts";
import { FUNCTION, functionView, type ShownFunction } from "./function-view.ts";

export interface FunctionsRoutesParts {
  access: AccessRules;
  audit: AuditTrail;
  registry: {
    functions(environment: Environment): ShownFunction[];
    /** Includes those that their apps do not register any more. */
    everyFunction(environment: Environment): ShownFunction[];
    /** For each function, how many runs wait because it is paused. */
    held(environment: Environment): Promise<ReadonlyMap<FunctionNo, number>>;
    /** False if there is no such function. */
    pause(environment: Environment, id: string): Promise<boolean>;
    resume(environment: Environment, id: string, held: "keep" | "cancel"): Promise<boolean>;
  };
}

type ListRequest = { Querystring: PageQuery };
type ById = { Params: { id: string } };
type ResumeRequest = ById & { Body: { held?: "keep" | "cancel" } | null };

const LIST = {
  summary: "List functions, newest first",
  description: "The functions that events can start.",
  querystring: closed(PAGE_PARAMETERS),
  response: { 200: pageOf(FUNCTION) },
};
/** The facts of a route that shows or changes one. */
export const FUNCTION_CHANGED = { querystring: closed({}), response: { 200: dataOf(FUNCTION) }, errors: ["function_not_found"] } as const;
const GET = { ...FUNCTION_CHANGED, summary: "Get a function" };
const PAUSE = {
  ...FUNCTION_CHANGED,
  summary: "Pause a function",
  description: "New runs are created and wait; unfinished runs stop before their next call. Until it is resumed, or its app is removed.",
};
const RESUME = {
  ...FUNCTION_CHANGED,
  summary: "Resume a function",
  description: "Runs that waited continue, or are cancelled, also if the app does not register the function any more.",
  body: {
    ...closed({
      held: {
        type: "string",
        enum: ["keep", "cancel"],
        description: "What happens to runs that waited: they continue (`keep`, the default) or are cancelled.",
      },
    }),
    type: ["object", "null"],
  },
};

export function registerFunctionsRoutes(app: FastifyInstance, parts: FunctionsRoutesParts): void {
  const [read, repair] = [{ about: "environment" }, { about: "environment", repair: true, byId: true }] as const;
  app.get<ListRequest>("/functions", { config: read, schema: LIST }, (request) => listFunctions(parts, request));
  app.get<ById>("/functions/:id", { config: read, schema: GET }, (request) => getFunction(parts, request));
  app.post<ById>("/functions/:id/pause", { config: repair, schema: PAUSE }, (request) => pauseFunction(parts, request));
  app.post<ResumeRequest>("/functions/:id/resume", { config: repair, schema: RESUME }, (request) => resumeFunction(parts, request));
}

async function listFunctions({ access, registry }: FunctionsRoutesParts, request: FastifyRequest<ListRequest>) {
  const environment = environmentOf(access, request);
  const { items, next } = cutPage(registry.functions(environment), ({ stored }) => ({ rank: stored.no }), request.query);
  const held = await registry.held(environment);
  return { data: items.map((shown) => functionView(shown, environment, held)), page: { next } };
}

async function getFunction({ access, registry }: FunctionsRoutesParts, request: FastifyRequest<ById>) {
  const environment = environmentOf(access, request);
  const shown = registry.functions(environment).find(({ stored }) => stored.id === request.params.id);
  if (!shown) throw functionNotFound(request.params.id, environment);
  return { data: functionView(shown, environment, await registry.held(environment)) };
}

async function pauseFunction(parts: FunctionsRoutesParts, request: FastifyRequest<ById>) {
  const environment = environmentOf(parts.access, request);
  const { id } = request.params;
  if (!(await parts.registry.pause(environment, id))) throw functionNotFound(id, environment);
  return changedFunction(parts, request, environment, id, "paused");
}

async function resumeFunction(parts: FunctionsRoutesParts, request: FastifyRequest<ResumeRequest>) {
  const environment = environmentOf(parts.access, request);
  const { id } = request.params;
  const held = request.body?.held ?? "keep";
  if (!(await parts.registry.resume(environment, id, held))) throw functionNotFound(id, environment);
  return changedFunction(parts, request, environment, id, "resumed", { held });
}

/** Records the change, and shows the function as it is now. */
export async function changedFunction(
  { audit, registry }: Pick<FunctionsRoutesParts, "audit" | "registry">,
  request: FastifyRequest,
  environment: Environment,
  id: string,
  action: string,
  details = {},
) {
  const shown = registry.everyFunction(environment).find(({ stored }) => stored.id === id) as ShownFunction;
  const target = { kind: "function", id, name: shown.stored.name };
  await audit.note(request, { action: `function.${action}`, target, environment: environment.name, details });
  return { data: functionView(shown, environment, await registry.held(environment)) };
}

export function functionNotFound(id: string, { name }: Environment): RestRefusal {
  return new RestRefusal("function_not_found", `There is no function ${id} in the environment "${name}".`);
}

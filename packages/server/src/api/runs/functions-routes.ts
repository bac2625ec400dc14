/** REST: apps and the functions they registered. */

import { type AppId, type FunctionNo, Refusal } from "@inlet/protocol";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { iso } from "../../observe/run-view.ts";
import type { App, AppStore, Environment, StoredFunction } from "../../store/contract/index.ts";
import type { AuditTrail } from "../access/audit-trail.ts";
import { checkMayUse } from "../access/principal.ts";
import { type AccessRules, environmentOf, environmentsAllowed } from "../access/rest-access.ts";
import { cutPage, type PageQuery } from "../list-page.ts";
import { invalid, RestRefusal } from "../rest-errors.ts";
import { closed, PAGE_PARAMETERS } from "../rest-schemas.ts";
import { dataOf, INSTANT, INSTANT_OR_NULL, INTEGER, pageOf, shape, TEXT, TEXT_OR_NULL } from "../route-facts.ts";

export interface ShownFunction {
  stored: StoredFunction;
  app: App;
  url: string;
  config: Readonly<Record<string, unknown>>;
  /** Why its rate cannot be limited; null if it can. */
  rateLimitFault: string | null;
}

export interface FunctionsRoutesParts {
  access: AccessRules;
  audit: AuditTrail;
  store: AppStore;
  registry: {
    apps(environment: Environment): App[];
    functions(environment: Environment): ShownFunction[];
    /** Asks the app to register, in no environments but these (null: all). Returns a sentence if it does not. */
    sync(environment: Environment, url: string, environments: readonly string[] | null): Promise<App | string | Refusal>;
    refresh(): Promise<void>;
    /** For each function, how many runs wait because it is paused. */
    held(environment: Environment): Promise<ReadonlyMap<FunctionNo, number>>;
    /** False if there is no such function. */
    pause(environment: Environment, id: string): Promise<boolean>;
    resume(environment: Environment, id: string, held: "keep" | "cancel"): Promise<boolean>;
  };
  now(): number;
}

const APP_BODY = closed({ url: { type: "string", pattern: "^https?://", description: "Where the app takes calls." } }, ["url"]);

const APP = shape(
  {
    id: TEXT,
    name: { ...TEXT, description: "The id set by the developer." },
    url: TEXT,
    environment: TEXT,
    sdk: { ...TEXT, description: "The SDK that it registered with, such as inngest-js:v4.24.0." },
    framework: TEXT_OR_NULL,
    functions: { ...INTEGER, description: "How many it registered." },
    syncedAt: INSTANT,
    createdAt: INSTANT,
    error: { ...TEXT_OR_NULL, description: "Why the last sync failed." },
    signingKey: {
      ...shape({ id: TEXT, name: TEXT, environment: { ...TEXT_OR_NULL, description: "Null: it is valid in every environment." } }),
      type: ["object", "null"],
      description: "The signing key that it registered with; null on a dev server, and once the key is revoked.",
    },
  },
  { title: "App" },
);
const LIMITED_RATE = { ...shape({ limit: INTEGER, period: TEXT }), type: ["object", "null"] };
const FUNCTION = shape(
  {
    id: { ...TEXT, description: "<app>-<function>" },
    name: TEXT,
    app: TEXT,
    environment: TEXT,
    url: TEXT,
    triggers: {
      type: "array",
      items: shape({ event: TEXT, if: TEXT, cron: TEXT }, { optional: ["event", "if", "cron"] }),
    },
    config: { type: "object", additionalProperties: true, description: "Retries, and flow control as it was registered." },
    limits: {
      ...shape({
        concurrency: { type: ["integer", "null"] },
        throttle: LIMITED_RATE,
        rateLimit: LIMITED_RATE,
        changedAt: INSTANT_OR_NULL,
        changedBy: TEXT_OR_NULL,
      }),
      description: "Limits that were set without a deploy; they take precedence over those in `config`. Null: the app's own.",
    },
    pausedAt: { ...INSTANT_OR_NULL, description: "Since when it is paused." },
    held: { ...INTEGER, description: "How many runs wait because it is paused." },
    createdAt: INSTANT,
    updatedAt: INSTANT,
  },
  { title: "Function" },
);
const NONE = closed({});
/** The facts of a route that shows or changes one. */
export const FUNCTION_CHANGED = { querystring: NONE, response: { 200: dataOf(FUNCTION) }, errors: ["function_not_found"] } as const;

export function registerFunctionsRoutes(app: FastifyInstance, parts: FunctionsRoutesParts): void {
  const { access, audit, store, registry, now } = parts;
  const note = (request: FastifyRequest, action: string, { id, name, url }: App, environment: Environment) =>
    audit.note(request, { action: `app.${action}`, target: { kind: "app", id, name }, environment: environment.name, details: { url } });

  /** An app that names an environment itself is registered there, whatever the request says. */
  function view(shown: App) {
    const { id, name, url, sdk, framework, syncedAt, createdAt, error } = shown;
    const environment = access.directory.environments().find((candidate) => candidate.id === shown.environmentId) as Environment;
    const functions = registry.functions(environment).filter((registered) => registered.app.no === shown.no).length;
    return {
      id,
      name,
      url,
      environment: environment.name,
      sdk,
      framework,
      functions,
      syncedAt: iso(syncedAt),
      createdAt: iso(createdAt),
      error,
      signingKey: signingKeyView(access, shown),
    };
  }

  const functions = {
    summary: "List functions, newest first",
    description: "The functions that events can start.",
    querystring: closed(PAGE_PARAMETERS),
    response: { 200: pageOf(FUNCTION) },
  };
  app.get<{ Querystring: PageQuery }>("/functions", { config: { about: "environment" }, schema: functions }, async (request) => {
    const environment = environmentOf(access, request);
    const { items, next } = cutPage(registry.functions(environment), ({ stored }) => ({ rank: stored.no }), request.query);
    const held = await registry.held(environment);
    return { data: items.map((shown) => functionView(shown, environment, held)), page: { next } };
  });

  app.get<{ Params: { id: string } }>(
    "/functions/:id",
    { config: { about: "environment" }, schema: { ...FUNCTION_CHANGED, summary: "Get a function" } },
    async (request) => {
      const environment = environmentOf(access, request);
      const shown = registry.functions(environment).find(({ stored }) => stored.id === request.params.id);
      if (!shown) throw functionNotFound(request.params.id, environment);
      return { data: functionView(shown, environment, await registry.held(environment)) };
    },
  );

  const pause = {
    ...FUNCTION_CHANGED,
    summary: "Pause a function",
    description: "New runs are created and wait; unfinished runs stop before their next call.",
  };
  app.post<{ Params: { id: string } }>(
    "/functions/:id/pause",
    { config: { about: "environment", repair: true }, schema: pause },
    async (request) => {
      const environment = environmentOf(access, request);
      const { id } = request.params;
      if (!(await registry.pause(environment, id))) throw functionNotFound(id, environment);
      return changedFunction(parts, request, environment, id, "paused");
    },
  );

  const resume = {
    ...FUNCTION_CHANGED,
    summary: "Resume a function",
    description: "Runs that waited continue, or are cancelled.",
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
  app.post<{ Params: { id: string }; Body: { held?: "keep" | "cancel" } | null }>(
    "/functions/:id/resume",
    { config: { about: "environment", repair: true }, schema: resume },
    async (request) => {
      const environment = environmentOf(access, request);
      const { id } = request.params;
      const held = request.body?.held ?? "keep";
      if (!(await registry.resume(environment, id, held))) throw functionNotFound(id, environment);
      return changedFunction(parts, request, environment, id, "resumed", { held });
    },
  );

  const apps = { summary: "List apps, newest first", querystring: closed(PAGE_PARAMETERS), response: { 200: pageOf(APP) } };
  app.get<{ Querystring: PageQuery }>("/apps", { config: { about: "environment" }, schema: apps }, async (request) => {
    const environment = environmentOf(access, request);
    const { items, next } = cutPage(registry.apps(environment), ({ no }) => ({ rank: no }), request.query);
    return { data: items.map((shown) => view(shown)), page: { next } };
  });

  const sync = {
    summary: "Sync an app",
    description: "Asks the app at this URL to register its functions. An app that names an environment itself is registered there.",
    body: APP_BODY,
    querystring: NONE,
    response: { 201: dataOf(APP) },
    errors: ["app_unreachable"],
  } as const;
  app.post<{ Body: { url: string } }>("/apps", { config: { about: "environment", repair: true }, schema: sync }, async (request, reply) => {
    const environment = environmentOf(access, request);
    if (!URL.canParse(request.body.url)) throw invalid("url", "is not an address such as http://localhost:3000/api/inlet");
    const synced = await registry.sync(environment, request.body.url, environmentsAllowed(request));
    if (synced instanceof Refusal) throw new RestRefusal(synced.code, synced.message);
    if (typeof synced === "string") throw new RestRefusal("app_unreachable", synced);
    const registeredIn = access.directory.environments().find(({ id }) => id === synced.environmentId);
    if (registeredIn) checkMayUse(request, registeredIn);
    await note(request, "synced", synced, environment);
    reply.status(201);
    return { data: view(synced) };
  });

  const remove = {
    summary: "Remove an app",
    description: "Its functions start no new runs; unfinished runs fail.",
    querystring: NONE,
    response: { 200: dataOf(shape({ id: TEXT })) },
    errors: ["app_not_found"],
  } as const;
  app.delete<{ Params: { id: string } }>("/apps/:id", { config: { about: "environment" }, schema: remove }, async (request) => {
    const environment = environmentOf(access, request);
    const { id } = request.params;
    const known = registry.apps(environment).find((candidate) => candidate.id === id || candidate.name === id);
    const removed = known && (await store.appRemove({ environmentId: environment.id, id: known.id as AppId, removedAt: now() }));
    if (!removed) throw new RestRefusal("app_not_found", `There is no app ${id} in the environment "${environment.name}".`);
    await registry.refresh();
    await note(request, "removed", removed, environment);
    return { data: { id: removed.id } };
  });
}

function signingKeyView({ directory }: AccessRules, { signingKeyId }: App) {
  const key = signingKeyId && directory.workingKey(signingKeyId);
  if (!key) return null;
  const environment = key.environmentId === null ? null : (directory.environment(key.environmentId)?.name ?? null);
  return { id: key.id, name: key.name, environment };
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
  const shown = registry.functions(environment).find(({ stored }) => stored.id === id) as ShownFunction;
  const target = { kind: "function", id, name: shown.stored.name };
  await audit.note(request, { action: `function.${action}`, target, environment: environment.name, details });
  return { data: functionView(shown, environment, await registry.held(environment)) };
}

export function functionNotFound(id: string, { name }: Environment): RestRefusal {
  return new RestRefusal("function_not_found", `There is no function ${id} in the environment "${name}".`);
}

/** All other registered fields are the function's configuration. */
const OWN_FIELDS: ReadonlySet<string> = new Set(["id", "name", "triggers", "steps"]);

function functionView({ stored, app, url, config }: ShownFunction, environment: Environment, held: ReadonlyMap<FunctionNo, number>) {
  return {
    id: stored.id,
    name: stored.name,
    app: app.name,
    environment: environment.name,
    url,
    triggers: triggersOf(config),
    config: { ...Object.fromEntries(Object.entries(config).filter(([key]) => !OWN_FIELDS.has(key))), retries: retriesOf(config) },
    limits: limitsView(stored),
    pausedAt: iso(stored.pausedAt),
    held: held.get(stored.no) ?? 0,
    createdAt: iso(stored.createdAt),
    updatedAt: iso(stored.updatedAt),
  };
}

function limitsView({ limits }: StoredFunction) {
  const { concurrency = null, throttle = null, rateLimit = null, changedAt = null, changedBy = null } = limits ?? {};
  return { concurrency, throttle, rateLimit, changedAt: iso(changedAt), changedBy };
}

function triggersOf({ triggers }: Readonly<Record<string, unknown>>): object[] {
  const given = (Array.isArray(triggers) ? triggers : []) as { event?: string; expression?: string; if?: string; cron?: string }[];
  return given.map(({ event, expression, if: condition = expression, cron }) =>
    cron === undefined ? { event, ...(condition !== undefined && { if: condition }) } : { cron },
  );
}

function retriesOf({ steps }: Readonly<Record<string, unknown>>): number | null {
  const [step] = Object.values((steps ?? {}) as Record<string, { retries?: { attempts?: number } }>);
  return step?.retries?.attempts ?? null;
}

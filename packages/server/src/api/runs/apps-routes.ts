/** REST: apps, which register functions. */

import { type AppId, hasCredentials, Refusal } from "@inlet/protocol";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { iso } from "../../observe/run-view.ts";
import type { App, AppStore, Environment } from "../../store/contract/index.ts";
import type { AuditTrail } from "../access/audit-trail.ts";
import { checkMayUse } from "../access/principal.ts";
import { type AccessRules, environmentOf, environmentsAllowed } from "../access/rest-access.ts";
import { cutPage, type PageQuery } from "../list-page.ts";
import { invalid, RestRefusal } from "../rest-errors.ts";
import { closed, PAGE_PARAMETERS } from "../rest-schemas.ts";
import { dataOf, INSTANT, INTEGER, pageOf, shape, TEXT, TEXT_OR_NULL } from "../route-facts.ts";
import { WEB_URL } from "../text-patterns.ts";

export interface AppsRoutesParts {
  access: AccessRules;
  audit: AuditTrail;
  store: Pick<AppStore, "appRemove">;
  registry: {
    apps(environment: Environment): App[];
    functions(environment: Environment): { app: App }[];
    /** Asks the app to register, in no environments but these (null: all). Returns a sentence if it does not. */
    sync(environment: Environment, url: string, environments: readonly string[] | null): Promise<App | string | Refusal>;
    refresh(): Promise<void>;
  };
  now(): number;
}

type ListRequest = { Querystring: PageQuery };
type SyncRequest = { Body: { url: string } };
type ById = { Params: { id: string } };

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
const LIST = { summary: "List apps, newest first", querystring: closed(PAGE_PARAMETERS), response: { 200: pageOf(APP) } };
const SYNC = {
  summary: "Sync an app",
  description: "Asks the app at this URL to register its functions. An app that names an environment itself is registered there.",
  body: closed({ url: { type: "string", pattern: WEB_URL, description: "Where the app takes calls." } }, ["url"]),
  querystring: closed({}),
  response: { 201: dataOf(APP) },
  errors: ["app_unreachable"],
} as const;
const REMOVE = {
  summary: "Remove an app",
  description: "Its functions start no new runs; unfinished runs fail.",
  querystring: closed({}),
  response: { 200: dataOf(shape({ id: TEXT })) },
  errors: ["app_not_found"],
} as const;

export function registerAppsRoutes(app: FastifyInstance, parts: AppsRoutesParts): void {
  const [read, repair] = [{ about: "environment" }, { about: "environment", repair: true }] as const;
  app.get<ListRequest>("/apps", { config: read, schema: LIST }, async (request) => listApps(parts, request));
  app.post<SyncRequest>("/apps", { config: repair, schema: SYNC }, (request, reply) => syncApp(parts, request, reply));
  app.delete<ById>("/apps/:id", { config: { ...read, byId: true }, schema: REMOVE }, (request) => removeApp(parts, request));
}

function listApps(parts: AppsRoutesParts, request: FastifyRequest<ListRequest>) {
  const known = parts.registry.apps(environmentOf(parts.access, request));
  const { items, next } = cutPage(known, ({ no }) => ({ rank: no }), request.query);
  return { data: items.map((app) => appView(parts, app)), page: { next } };
}

async function syncApp(parts: AppsRoutesParts, request: FastifyRequest<SyncRequest>, reply: FastifyReply) {
  const { access, registry } = parts;
  const environment = environmentOf(access, request);
  if (!URL.canParse(request.body.url)) throw invalid("url", "is not an address such as http://localhost:3000/api/inlet");
  if (hasCredentials(request.body.url)) throw invalid("url", "must not contain a user name or a password");
  const synced = await registry.sync(environment, request.body.url, environmentsAllowed(request));
  if (synced instanceof Refusal) throw new RestRefusal(synced.code, synced.message);
  if (typeof synced === "string") throw new RestRefusal("app_unreachable", synced);
  const registeredIn = access.directory.environments().find(({ id }) => id === synced.environmentId);
  if (registeredIn) checkMayUse(request, registeredIn);
  await note(parts, request, "synced", synced, environment);
  reply.status(201);
  return { data: appView(parts, synced) };
}

async function removeApp(parts: AppsRoutesParts, request: FastifyRequest<ById>) {
  const { access, store, registry, now } = parts;
  const environment = environmentOf(access, request);
  const { id } = request.params;
  const known = registry.apps(environment).find((candidate) => candidate.id === id || candidate.name === id);
  const removed = known && (await store.appRemove({ environmentId: environment.id, id: known.id as AppId, removedAt: now() }));
  if (!removed) throw new RestRefusal("app_not_found", `There is no app ${id} in the environment "${environment.name}".`);
  await registry.refresh();
  await note(parts, request, "removed", removed, environment);
  return { data: { id: removed.id } };
}

function note({ audit }: AppsRoutesParts, request: FastifyRequest, action: string, { id, name, url }: App, environment: Environment) {
  const target = { kind: "app", id, name };
  return audit.note(request, { action: `app.${action}`, target, environment: environment.name, details: { url } });
}

/** In the environment that the app is registered in, whatever the request says. */
function appView({ access, registry }: AppsRoutesParts, app: App) {
  const { id, name, url, sdk, framework, syncedAt, createdAt, error } = app;
  const environment = access.directory.environments().find((candidate) => candidate.id === app.environmentId) as Environment;
  const functions = registry.functions(environment).filter((registered) => registered.app.no === app.no).length;
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
    signingKey: signingKeyView(access, app),
  };
}

function signingKeyView({ directory }: AccessRules, { signingKeyId }: App) {
  const key = signingKeyId && directory.workingKey(signingKeyId);
  if (!key) return null;
  const environment = key.environmentId === null ? null : (directory.environment(key.environmentId)?.name ?? null);
  return { id: key.id, name: key.name, environment };
}

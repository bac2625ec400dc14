/** REST: finds the object with an id, whatever its kind. */

import { type EventId, environmentNamed, isEventId, type JobId, type RunId, type WebhookRequestId } from "@inlet/protocol";
import type { FastifyInstance, FastifyRequest } from "fastify";
import {
  databaseNames,
  type Environment,
  type JobStore,
  reachableOnly,
  type Store,
  type StoreViews,
  type Webhook,
} from "../store/contract/index.ts";
import { includesEnvironment } from "./access/grants.ts";
import { checkMayUse } from "./access/principal.ts";
import { type AccessRules, environmentOf, environmentsAllowed } from "./access/rest-access.ts";
import { cutPage, type PageQuery } from "./list-page.ts";
import { closed, PAGE_PARAMETERS } from "./rest-schemas.ts";
import { listOf, namedEnvironment, pageOf, shape, TEXT } from "./route-facts.ts";
import type { RunsRoutesParts } from "./runs/runs-routes.ts";

export interface FindRoutesParts {
  access: AccessRules;
  store: Pick<JobStore, "jobGet"> & Pick<Store, "storeDatabases" | "storeDatabaseOf">;
  views: StoreViews;
  directory: { webhooks(): Webhook[]; environments(): Environment[] };
  runs: Pick<RunsRoutesParts["runs"], "functionName">;
}

interface Found {
  kind: "event" | "run" | "job" | "request";
  id: string;
  name: string;
  webhook?: string;
  dedupId?: string;
}

const DEDUP_MAX = 10;

const FOUND = shape(
  {
    kind: { type: "string", enum: ["event", "run", "job", "request"] },
    id: TEXT,
    name: { ...TEXT, description: "The name of the event, of the run's function, of the job's kind or of the webhook." },
    webhook: { ...TEXT, description: "The id of the webhook that a request was sent to." },
    dedupId: { ...TEXT, description: "The sender's id, if an event was found by it." },
  },
  { optional: ["webhook", "dedupId"], title: "Found" },
);

const UNREACHABLE = { ...listOf(TEXT), description: "Databases that cannot be reached now: their environments were not searched." };

const FIND = {
  summary: "Find an object by its id",
  description:
    "An event, a run, a job or a webhook request of the environment; events by their sender's id too. Of several environments, those whose database cannot be reached are left out; `page.unreachable` names the databases.",
  headers: namedEnvironment(
    "Environment; default `production`, or `dev` on a dev server, or, if the caller may not use it, every environment it may use.",
  ),
  querystring: closed({ ...PAGE_PARAMETERS, id: { type: "string", minLength: 1, maxLength: 512 } }, ["id"]),
  response: { 200: pageOf(FOUND, { unreachable: UNREACHABLE }) },
  errors: ["environment_not_found"],
} as const;

export function registerFindRoutes(app: FastifyInstance, parts: FindRoutesParts): void {
  app.get<{ Querystring: PageQuery & { id: string } }>("/find", { config: { about: "visible" }, schema: FIND }, async (request) => {
    const id = request.query.id.trim();
    const found: Found[] = [];
    const { environments, unreachable } = searched(parts, request);
    for (const environment of environments) found.push(...(await findIn(parts, environment, id)));
    const { items, next } = cutPage([...found.entries()], ([index]) => ({ rank: -index }), request.query);
    return { data: items.map(([, one]) => one), page: { next, unreachable } };
  });
}

interface Searched {
  environments: Environment[];
  /** Databases of environments that are left out. */
  unreachable: string[];
}

/** The environment of the request. Who may not use the default one, and names none, finds what is in its own. */
function searched({ access, store, directory }: FindRoutesParts, request: FastifyRequest): Searched {
  const allowed = environmentsAllowed(request);
  const visible = directory.environments().filter((environment) => includesEnvironment(allowed, environment));
  const usesDefault = visible.some(({ name }) => name === access.defaultEnvironment);
  if (environmentNamed(request.headers) === null && !usesDefault) {
    const environments = reachableOnly(store, visible);
    const leftOut = visible.filter((environment) => !environments.includes(environment));
    return { environments, unreachable: databaseNames(store, leftOut) };
  }
  const environment = environmentOf(access, request);
  checkMayUse(request, environment);
  return { environments: [environment], unreachable: [] };
}

async function findIn(parts: FindRoutesParts, environment: Environment, id: string): Promise<Found[]> {
  const found = await Promise.all([
    byUlid(parts, environment, id.toUpperCase()),
    byRequestId(parts, environment, id),
    byDedupId(parts, environment, id),
  ]);
  return found.flat();
}

async function byUlid({ store, views, runs }: FindRoutesParts, { id: environmentId }: Environment, id: string): Promise<Found[]> {
  if (!isEventId(id)) return [];
  const text = id as string;
  const [event, run, job] = await Promise.all([
    views.eventGet({ environmentId, id: text as EventId }),
    views.runGet({ environmentId, id: text as RunId }),
    store.jobGet({ environmentId, id: text as JobId }),
  ]);
  return [
    ...(event ? [{ kind: "event" as const, id: event.id, name: event.name }] : []),
    ...(run ? [{ kind: "run" as const, id: run.id, name: runs.functionName(run.functionNo).id }] : []),
    ...(job ? [{ kind: "job" as const, id: job.id, name: job.kind }] : []),
  ];
}

async function byRequestId({ views, directory }: FindRoutesParts, { id: environmentId }: Environment, id: string): Promise<Found[]> {
  if (!/^req_/i.test(id)) return [];
  const requestId = `req_${id.slice(4).toUpperCase()}` as WebhookRequestId;
  const webhooks = directory.webhooks().filter((webhook) => webhook.environmentId === environmentId);
  const found = await Promise.all(
    webhooks.map(async (webhook): Promise<Found[]> => {
      const record = await views.webhookRequestGet({ environmentId, webhookId: webhook.id, id: requestId });
      return record ? [{ kind: "request", id: record.id, name: webhook.name, webhook: webhook.id }] : [];
    }),
  );
  return found.flat();
}

async function byDedupId({ views }: FindRoutesParts, { id: environmentId }: Environment, dedupId: string): Promise<Found[]> {
  const { events } = await views.eventList({ environmentId, dedupId, limit: DEDUP_MAX });
  return events.map(({ id, name }) => ({ kind: "event", id, name, dedupId }));
}

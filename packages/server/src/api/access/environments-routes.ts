/** REST: environments. */

import { RESERVED_ENVIRONMENTS } from "@inlet/protocol";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import {
  type DatabaseStore,
  DIRECTORY_NAME,
  DIRECTORY_NO,
  type Environment,
  type EnvironmentChanges,
  type EnvironmentRetention,
  type EnvironmentStore,
  type Store,
} from "../../store/contract/index.ts";
import { cutPage, type PageQuery } from "../list-page.ts";
import { invalid, RestRefusal } from "../rest-errors.ts";
import { closed, PAGE_PARAMETERS } from "../rest-schemas.ts";
import { readRetention } from "../retention-fields.ts";
import { dataOf, pageOf } from "../route-facts.ts";
import { ENVIRONMENT_NAME } from "../text-patterns.ts";
import { type CreateKeyParts, createKey } from "./create-key.ts";
import { ENVIRONMENT, environmentView, NEW_ENVIRONMENT, RETENTION_FIELDS, USED_ENVIRONMENT } from "./environment-view.ts";
import { type EnvironmentDirectory, findEnvironment, noteEnvironment } from "./find-environment.ts";
import { includesEnvironment } from "./grants.ts";
import { QUOTA_CHANGES, type QuotaChanges, type QuotaUsage } from "./quota-fields.ts";
import { environmentsAllowed } from "./rest-access.ts";

export interface EnvironmentsRoutesParts extends CreateKeyParts {
  store: EnvironmentStore & DatabaseStore & Pick<Store, "storeDatabases" | "storeDatabaseOf"> & CreateKeyParts["store"];
  directory: CreateKeyParts["directory"] & EnvironmentDirectory & { environments(): Environment[] };
  /** What is used of the environment's quotas in the running period. */
  usageOf(environment: Environment): Promise<QuotaUsage>;
}

type Parts = EnvironmentsRoutesParts;
type ListRequest = { Querystring: PageQuery };
type ByName = { Params: { name: string } };

interface CreateBody {
  name: string;
  kind: "branch" | "custom";
  bodyLimitBytes?: number | null;
  database?: string;
}

interface UpdateBody {
  bodyLimitBytes?: number | null;
  retention?: { events?: string | null; runs?: string | null; requests?: string | null };
  quotas?: QuotaChanges;
}

const BODY_LIMIT = {
  type: ["integer", "null"],
  minimum: 1,
  maximum: 268_435_456,
  description: "Largest request body; null: the service's own limit.",
};

const NEW = closed(
  {
    name: { type: "string", pattern: ENVIRONMENT_NAME, description: "1 to 128 letters, digits and . _ - /, but not `.` or `..`" },
    kind: { type: "string", enum: ["branch", "custom"], default: "custom" },
    bodyLimitBytes: BODY_LIMIT,
    database: {
      type: "string",
      default: DIRECTORY_NAME,
      description: `The name of the database that holds its data. Branch environments are on \`${DIRECTORY_NAME}\`, with the webhooks that they share.`,
    },
  },
  ["name"],
);

const LIST = {
  summary: "List environments",
  description: "Only those that the key can access.",
  querystring: closed(PAGE_PARAMETERS),
  response: { 200: pageOf(ENVIRONMENT) },
};
const ONE = { querystring: closed({}), response: { 200: dataOf(USED_ENVIRONMENT) }, errors: ["environment_not_found"] } as const;
const GET = { ...ONE, summary: "Get an environment" };
const CREATE = {
  summary: "Create an environment",
  description: "A custom environment gets an event key and a signing key; branch environments use those of `branch`.",
  body: NEW,
  querystring: closed({}),
  response: { 201: dataOf(NEW_ENVIRONMENT) },
  errors: ["environment_exists", "database_not_found"],
} as const;
const UPDATE = {
  ...ONE,
  summary: "Change an environment's limits, retention and quotas",
  body: closed({ bodyLimitBytes: BODY_LIMIT, retention: closed(RETENTION_FIELDS), quotas: QUOTA_CHANGES }),
};
const ARCHIVE = {
  ...ONE,
  summary: "Archive an environment",
  description: "Keeps its events and refuses new ones.",
  errors: ["environment_not_found", "environment_permanent"],
} as const;
const UNARCHIVE = { ...ONE, summary: "Unarchive an environment" };

export function registerEnvironmentsRoutes(app: FastifyInstance, parts: Parts): void {
  const [read, change] = [
    { about: "path", ingest: true },
    { about: "path", unrestricted: true },
  ] as const;
  app.get<ListRequest>("/environments", { config: { about: "visible", ingest: true }, schema: LIST }, async (request) =>
    listEnvironments(parts, request),
  );
  app.get<ByName>("/environments/:name", { config: read, schema: GET }, (request) => getEnvironment(parts, request));
  app.post<{ Body: CreateBody }>(
    "/environments",
    { config: { about: "installation", idempotent: "keys-once" }, schema: CREATE },
    (request, reply) => createEnvironment(parts, request, reply),
  );
  app.put<ByName & { Body: UpdateBody }>("/environments/:name", { config: change, schema: UPDATE }, (request) =>
    updateEnvironment(parts, request),
  );
  app.post<ByName>("/environments/:name/archive", { config: change, schema: ARCHIVE }, (request) => archiveEnvironment(parts, request));
  app.post<ByName>("/environments/:name/unarchive", { config: change, schema: UNARCHIVE }, (request) =>
    changeEnvironment(parts, request, "unarchived", { archivedAt: null }),
  );
}

function listEnvironments({ directory, store }: Parts, request: FastifyRequest<ListRequest>) {
  const allowed = environmentsAllowed(request);
  const mine = directory.environments().filter((environment) => includesEnvironment(allowed, environment));
  const { items, next } = cutPage(mine.filter(isVisible), ({ id }) => ({ rank: id }), request.query);
  return { data: items.map((one) => environmentView(request, one, store)), page: { next } };
}

async function getEnvironment({ directory, store, usageOf }: Parts, request: FastifyRequest<ByName>) {
  const environment = findEnvironment(directory, request.params.name);
  return { data: { ...environmentView(request, environment, store), usage: await usageOf(environment) } };
}

async function createEnvironment(parts: Parts, request: FastifyRequest<{ Body: CreateBody }>, reply: FastifyReply) {
  const { store, directory, now } = parts;
  const { name, kind, bodyLimitBytes } = request.body;
  if (RESERVED_ENVIRONMENTS.has(name) && !isVisible(directory.environmentNamed(name)))
    throw invalid("name", `must not be "${name}", which is reserved`);
  const databaseNo = await databaseFor(store, request.body);
  const created = await store.environmentInsert({ name, kind, createdAt: now(), bodyBytesMax: bodyLimitBytes ?? null, databaseNo });
  if (!created) throw new RestRefusal("environment_exists", `An environment "${name}" already exists.`);
  await directory.refresh();
  const database = databaseNo !== DIRECTORY_NO && { database: request.body.database };
  await noteEnvironment(parts.audit, request, "created", created, { kind, ...database });
  reply.code(201);
  const keys = kind === "custom" && { keys: await firstKeys(parts, request, created) };
  return { data: { ...environmentView(request, created, store), ...keys } };
}

function updateEnvironment(parts: Parts, request: FastifyRequest<ByName & { Body: UpdateBody }>) {
  const { bodyLimitBytes, retention, quotas } = request.body;
  return changeEnvironment(parts, request, "updated", {
    ...(bodyLimitBytes !== undefined && { bodyBytesMax: bodyLimitBytes }),
    ...(retention && { retention: readEnvironmentRetention(retention) }),
    ...(quotas && { quotas }),
  });
}

async function archiveEnvironment(parts: Parts, request: FastifyRequest<ByName>) {
  const { kind, name, archivedAt } = findEnvironment(parts.directory, request.params.name);
  if (kind === "default") throw new RestRefusal("environment_permanent", `"${name}" is the default environment and cannot be archived.`);
  return changeEnvironment(parts, request, "archived", { archivedAt: archivedAt ?? parts.now() });
}

async function changeEnvironment(parts: Parts, request: FastifyRequest<ByName>, action: string, changes: EnvironmentChanges) {
  const { store, directory, audit, usageOf } = parts;
  const { name } = request.params;
  const environment = findEnvironment(directory, name);
  // Read before the change: nothing is written if the environment's database is away.
  const usage = await usageOf(environment);
  const changed = (await store.environmentUpdate({ id: environment.id, ...changes })) as Environment;
  await directory.refresh();
  const { bodyBytesMax: bodyLimitBytes, retention, quotas } = changes;
  const view = environmentView(request, changed, store);
  await noteEnvironment(audit, request, action, findEnvironment(directory, name), {
    ...(bodyLimitBytes !== undefined && { bodyLimitBytes }),
    ...(retention && { retention: view.retention }),
    ...(quotas && { quotas }),
  });
  return { data: { ...view, usage } };
}

/** The number of the database that the request names. */
async function databaseFor(store: DatabaseStore, { kind, database = DIRECTORY_NAME }: CreateBody): Promise<number> {
  if (database === DIRECTORY_NAME) return DIRECTORY_NO;
  const named = (await store.databaseList()).find(({ name }) => name === database);
  if (!named) throw new RestRefusal("database_not_found", `There is no database "${database}".`);
  // A request to a webhook of all branches is recorded in the transaction of its events.
  if (kind === "branch") throw invalid("database", `must be "${DIRECTORY_NAME}" for a branch environment: branches share their webhooks`);
  return named.no;
}

async function firstKeys(parts: CreateKeyParts, request: FastifyRequest, environment: Environment): Promise<object[]> {
  const event = await createKey(parts, request, { kind: "event", name: "first key", environment });
  const signing = await createKey(parts, request, { kind: "signing", name: "first key", environment });
  return [event, signing];
}

function readEnvironmentRetention({ events, runs, requests }: NonNullable<UpdateBody["retention"]>): Partial<EnvironmentRetention> {
  const [eventsMs, runsMs, requestsMs] = [
    readRetention("retention.events", events),
    readRetention("retention.runs", runs),
    readRetention("retention.requests", requests),
  ];
  return {
    ...(eventsMs !== undefined && { eventsMs }),
    ...(runsMs !== undefined && { runsMs }),
    ...(requestsMs !== undefined && { requestsMs }),
  };
}

function isVisible(environment: Environment | undefined): boolean {
  return environment !== undefined && environment.kind !== "shared";
}

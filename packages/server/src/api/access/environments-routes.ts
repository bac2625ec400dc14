/** REST: environments. */

import type { JobId } from "@inlet/protocol";
import type { FastifyInstance, FastifyRequest } from "fastify";
import {
  type DatabaseStore,
  DIRECTORY_NAME,
  DIRECTORY_NO,
  type Environment,
  type EnvironmentChanges,
  type EnvironmentMoveStore,
  type EnvironmentRetention,
  type EnvironmentStore,
  type Job,
  type JobStore,
  type Store,
} from "../../store/contract/index.ts";
import { JOB } from "../jobs/job-schemas.ts";
import { jobView } from "../jobs/jobs-routes.ts";
import { cutPage } from "../list-page.ts";
import { invalid, RestRefusal } from "../rest-errors.ts";
import { closed, PAGE_PARAMETERS } from "../rest-schemas.ts";
import { readRetention } from "../retention-fields.ts";
import { dataOf, pageOf } from "../route-facts.ts";
import { type CreateKeyParts, createKey } from "./create-key.ts";
import { ENVIRONMENT, environmentView, NEW_ENVIRONMENT, RETENTION_FIELDS, USED_ENVIRONMENT } from "./environment-view.ts";
import { includesEnvironment } from "./grants.ts";
import { QUOTA_CHANGES, type QuotaChanges, type QuotaUsage } from "./quota-fields.ts";
import { environmentsAllowed, environmentUnknown } from "./rest-access.ts";

export interface EnvironmentsRoutesParts extends CreateKeyParts {
  store: EnvironmentStore &
    EnvironmentMoveStore &
    Pick<JobStore, "jobGet"> &
    DatabaseStore &
    Pick<Store, "storeDatabases" | "storeDatabaseOf"> &
    CreateKeyParts["store"];
  directory: CreateKeyParts["directory"] & {
    environments(): Environment[];
    environmentNamed(name: string): Environment | undefined;
  };
  newId(): string;
  /** What is used of the environment's quotas in the running period. */
  usageOf(environment: Environment): Promise<QuotaUsage>;
}

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

const RESERVED_NAMES: ReadonlySet<string> = new Set(["production", "dev", "branch"]);
const BODY_LIMIT = {
  type: ["integer", "null"],
  minimum: 1,
  maximum: 268_435_456,
  description: "Largest request body; null: the service's own limit.",
};

const CREATE = closed(
  {
    name: { type: "string", pattern: "^[A-Za-z0-9._/-]{1,128}$", description: "1 to 128 letters, digits and . _ - /" },
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

const NONE = closed({});
const config = { about: "path", unrestricted: true } as const;
const ONE = { querystring: NONE, response: { 200: dataOf(USED_ENVIRONMENT) }, errors: ["environment_not_found"] } as const;

const MOVE = {
  summary: "Move an environment to another database",
  description:
    "Moves everything that the environment holds, while it runs, in a job of kind `environments.move`, which is listed in the environment. At the switch, requests that write are refused with 503 and `Retry-After` for at most 5 seconds. If the job fails or is cancelled, the environment stays where it was.",
  querystring: NONE,
  body: closed({ database: { type: "string", description: "The name of the database to move it to." } }, ["database"]),
  response: { 202: dataOf(JOB) },
  errors: ["environment_not_found", "database_not_found", "environment_moving"],
} as const;

export function registerEnvironmentsRoutes(app: FastifyInstance, parts: EnvironmentsRoutesParts): void {
  const { store, directory, audit, usageOf, now } = parts;
  const shown = (request: FastifyRequest, environment: Environment) => environmentView(request, environment, store);
  const existing = (name: string): Environment => {
    const environment = directory.environmentNamed(name);
    if (!environment || environment.kind === "shared") throw environmentUnknown(name);
    return environment;
  };
  const note = (request: FastifyRequest, action: string, { name }: Environment, details: Record<string, unknown> = {}) =>
    audit.note(request, { action: `environment.${action}`, target: { kind: "environment", id: name, name }, environment: name, details });
  const change = async (request: FastifyRequest, action: string, name: string, changes: EnvironmentChanges) => {
    const changed = await store.environmentUpdate({ id: existing(name).id, ...changes });
    await directory.refresh();
    const { bodyBytesMax: bodyLimitBytes, retention, quotas } = changes;
    const view = shown(request, changed as Environment);
    await note(request, action, existing(name), {
      ...(bodyLimitBytes !== undefined && { bodyLimitBytes }),
      ...(retention && { retention: view.retention }),
      ...(quotas && { quotas }),
    });
    return { data: { ...view, usage: await usageOf(changed as Environment) } };
  };

  app.get<{ Querystring: { limit: number; cursor?: string } }>(
    "/environments",
    {
      config: { about: "visible", ingest: true },
      schema: {
        summary: "List environments",
        description: "Only those that the key can access.",
        querystring: closed(PAGE_PARAMETERS),
        response: { 200: pageOf(ENVIRONMENT) },
      },
    },
    async (request) => {
      const allowed = environmentsAllowed(request);
      const mine = directory.environments().filter((environment) => includesEnvironment(allowed, environment));
      const { items, next } = cutPage(mine.filter(isVisible), ({ id }) => ({ rank: id }), request.query);
      return { data: items.map((one) => shown(request, one)), page: { next } };
    },
  );

  const one = { ...ONE, summary: "Get an environment" };
  app.get<{ Params: { name: string } }>(
    "/environments/:name",
    { config: { about: "path", ingest: true }, schema: one },
    async (request) => {
      const environment = existing(request.params.name);
      return { data: { ...shown(request, environment), usage: await usageOf(environment) } };
    },
  );

  const create = {
    summary: "Create an environment",
    description: "A custom environment gets an event key and a signing key; branch environments use those of `branch`.",
    body: CREATE,
    querystring: NONE,
    response: { 201: dataOf(NEW_ENVIRONMENT) },
    errors: ["environment_exists", "database_not_found"],
  } as const;
  app.post<{ Body: CreateBody }>(
    "/environments",
    { config: { about: "installation", idempotent: "keys-once" }, schema: create },
    async (request, reply) => {
      const { name, kind, bodyLimitBytes } = request.body;
      if (RESERVED_NAMES.has(name) && !isVisible(directory.environmentNamed(name)))
        throw invalid("name", `must not be "${name}", which is reserved`);
      const databaseNo = await databaseFor(store, request.body);
      const created = await store.environmentInsert({ name, kind, createdAt: now(), bodyBytesMax: bodyLimitBytes ?? null, databaseNo });
      if (!created) throw new RestRefusal("environment_exists", `An environment "${name}" already exists.`);
      await directory.refresh();
      await note(request, "created", created, { kind, ...(databaseNo !== DIRECTORY_NO && { database: request.body.database }) });
      reply.code(201);
      return { data: { ...shown(request, created), ...(kind === "custom" && { keys: await firstKeys(parts, request, created) }) } };
    },
  );

  const update = {
    ...ONE,
    summary: "Change an environment's limits, retention and quotas",
    body: closed({ bodyLimitBytes: BODY_LIMIT, retention: closed(RETENTION_FIELDS), quotas: QUOTA_CHANGES }),
  };
  app.put<{ Params: { name: string }; Body: UpdateBody }>("/environments/:name", { config, schema: update }, async (request) => {
    const { bodyLimitBytes, retention, quotas } = request.body;
    return change(request, "updated", request.params.name, {
      ...(bodyLimitBytes !== undefined && { bodyBytesMax: bodyLimitBytes }),
      ...(retention && { retention: readEnvironmentRetention(retention) }),
      ...(quotas && { quotas }),
    });
  });

  const archive = {
    ...ONE,
    summary: "Archive an environment",
    description: "Keeps its events and refuses new ones.",
    errors: ["environment_not_found", "environment_permanent"],
  } as const;
  app.post<{ Params: { name: string } }>("/environments/:name/archive", { config, schema: archive }, async (request) => {
    const environment = existing(request.params.name);
    if (environment.kind === "default") {
      throw new RestRefusal("environment_permanent", `"${environment.name}" is the default environment and cannot be archived.`);
    }
    return change(request, "archived", environment.name, { archivedAt: environment.archivedAt ?? now() });
  });

  const unarchive = { ...ONE, summary: "Unarchive an environment" };
  app.post<{ Params: { name: string } }>("/environments/:name/unarchive", { config, schema: unarchive }, async (request) =>
    change(request, "unarchived", request.params.name, { archivedAt: null }),
  );

  app.post<{ Params: { name: string }; Body: { database: string } }>(
    "/environments/:name/move",
    { config: { ...config, idempotent: "replayed" }, schema: MOVE },
    async (request, reply) => {
      const environment = existing(request.params.name);
      const { database } = request.body;
      const [from, to] = placesOf(store, environment, database);
      const [environmentId, jobId] = [environment.id, parts.newId() as JobId];
      const filter = JSON.stringify({ from, to: database });
      if (!(await store.environmentMoveInsert({ environmentId, jobId, to, filter, now: now() })))
        throw new RestRefusal("environment_moving", `The environment "${environment.name}" is being moved already.`);
      await note(request, "move.started", environment, { from, to: database, job: jobId });
      reply.code(202);
      return { data: jobView((await store.jobGet({ environmentId, id: jobId })) as Job) };
    },
  );
}

/** The name of the database that holds it, and the number of the one that it is to be moved to. */
function placesOf(
  store: Pick<Store, "storeDatabases" | "storeDatabaseOf">,
  { id, name, kind }: Environment,
  database: string,
): [string, number] {
  const [databases, databaseNo] = [store.storeDatabases(), store.storeDatabaseOf(id)];
  const to = databases.find((one) => one.name === database);
  if (!to) throw new RestRefusal("database_not_found", `There is no database "${database}".`);
  // A request to a webhook of all branches is recorded in the transaction of its events.
  if (kind === "branch") throw invalid("database", `cannot be chosen for "${name}": branch environments share their webhooks`);
  if (to.no === databaseNo) throw invalid("database", `must be another one: "${name}" is on "${database}"`);
  return [databases.find(({ no }) => no === databaseNo)?.name ?? String(databaseNo), to.no];
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

/**
 * REST: the databases of the installation. A URL is taken once and shown to nobody. Whoever adds one makes every node connect to an
 * address of their choice, and read the response: that needs a role that holds everywhere.
 */

import { setTimeout as pause } from "node:timers/promises";
import type { FastifyInstance } from "fastify";
import {
  type DatabaseStore,
  DIRECTORY_NAME,
  type Environment,
  type Store,
  type StoreDatabase,
  StoreUnavailable,
} from "../../store/contract/index.ts";
import type { AuditTrail } from "../access/audit-trail.ts";
import { cutPage, type PageQuery } from "../list-page.ts";
import { RestRefusal } from "../rest-errors.ts";
import { closed, PAGE_PARAMETERS } from "../rest-schemas.ts";
import { BOOLEAN, dataOf, listOf, pageOf, shape, TEXT } from "../route-facts.ts";
import { DATABASE_NAME } from "../text-patterns.ts";
import { databaseUrlFault, withOwnPassword } from "./database-url.ts";

export interface DatabasesRoutesParts {
  store: DatabaseStore & Pick<Store, "storeDatabases" | "storeDatabaseOf">;
  directory: { environments(): Environment[]; refresh(): Promise<void> };
  audit: AuditTrail;
  now(): number;
}

/** A size that takes longer is left out: a list does not wait for a database that stays silent. */
const BYTES_WITHIN_MS = 5_000;
const URL_UNITS_MAX = 2_048;

interface AddBody {
  name: string;
  url: string;
  readUrl?: string | null;
}

const URL_FIELD = { type: "string", maxLength: URL_UNITS_MAX, writeOnly: true };
const DATABASE = shape(
  {
    name: { ...TEXT, description: `\`${DIRECTORY_NAME}\` is the database of \`--database-url\`.` },
    environments: { ...listOf(TEXT), description: "The names of the environments whose data it holds." },
    reachable: { ...BOOLEAN, description: "False: requests of its environments are refused with 503 until it is reachable again." },
    bytes: { type: ["integer", "null"], description: "Its size on disk; null: it did not answer." },
  },
  { title: "Database" },
);
const LIST = {
  summary: "List databases",
  description: `The databases that hold environments. The first is called \`${DIRECTORY_NAME}\`. URLs are never shown.`,
  querystring: closed(PAGE_PARAMETERS),
  response: { 200: pageOf(DATABASE) },
} as const;
const ADD = {
  summary: "Add a database",
  description:
    "Adds an empty PostgreSQL database, creates the tables of this release in it, and connects every node of the service to it. Environments can then be placed on it.",
  querystring: closed({}),
  body: closed(
    {
      name: { type: "string", pattern: DATABASE_NAME, description: "1 to 64 letters, digits and . _ -" },
      url: { ...URL_FIELD, description: "`postgres://USER:PASSWORD@HOST:PORT/DATABASE`. Encrypted at rest." },
      readUrl: {
        ...URL_FIELD,
        type: ["string", "null"],
        description: "The URL of a read replica of this database, which then answers lists, searches and figures.",
      },
    },
    ["name", "url"],
  ),
  response: { 201: dataOf(DATABASE) },
  errors: ["database_invalid", "database_unreachable", "database_taken", "database_exists", "databases_too_many", "databases_unsupported"],
} as const;

export function registerDatabasesRoutes(app: FastifyInstance, { store, directory, audit, now }: DatabasesRoutesParts): void {
  const view = async (database: StoreDatabase) => ({
    name: database.name,
    environments: directory
      .environments()
      .filter(({ id, kind }) => store.storeDatabaseOf(id) === database.no && kind !== "shared")
      .map((environment) => environment.name),
    ...(await conditionOf(database)),
  });

  app.get<{ Querystring: PageQuery }>("/databases", { config: { about: "installation" }, schema: LIST }, async (request) => {
    const { items, next } = cutPage(store.storeDatabases(), ({ no }) => ({ rank: -no }), request.query);
    return { data: await Promise.all(items.map(view)), page: { next } };
  });

  app.post<{ Body: AddBody }>(
    "/databases",
    { config: { about: "installation", idempotent: "replayed" }, schema: ADD },
    async (request, reply) => {
      const { name, readUrl: givenReadUrl = null } = request.body;
      const url = urlOf("URL", request.body.url);
      const readUrl = givenReadUrl === null ? null : urlOf("read URL", givenReadUrl);
      if (name === DIRECTORY_NAME) throw new RestRefusal("database_exists", `A database "${name}" already exists.`);
      const added = await store.databaseAdd({ name, url, readUrl, createdAt: now() });
      if ("refused" in added) throw new RestRefusal(added.refused, added.reason);
      await directory.refresh();
      await audit.note(request, { action: "database.added", target: { kind: "database", id: name, name } });
      const open = store.storeDatabases().find(({ no }) => no === added.no);
      reply.code(201);
      return { data: open ? await view(open) : { name, environments: [], reachable: true, bytes: null } };
    },
  );
}

function urlOf(what: string, text: string): string {
  const fault = databaseUrlFault(text);
  if (fault !== null) throw new RestRefusal("database_invalid", `The ${what} ${fault}.`);
  return withOwnPassword(text);
}

async function conditionOf({ isReachable, store }: StoreDatabase): Promise<{ reachable: boolean; bytes: number | null }> {
  if (!isReachable) return { reachable: false, bytes: null };
  const late = new AbortController();
  try {
    const bytes = await Promise.race([store.storeBytes(), pause(BYTES_WITHIN_MS, null, { signal: late.signal })]);
    return { reachable: true, bytes };
  } catch (error) {
    if (error instanceof StoreUnavailable) return { reachable: false, bytes: null };
    throw error;
  } finally {
    late.abort();
  }
}

/**
 * A real PostgreSQL for tests: from npm, with its data in a temporary folder, one for each test process or one for the whole run
 * (scripts/run-tests.ts); or the one that TEST_DATABASE_URL names. Every test gets a database of its own.
 */

import { after, type TestContext } from "node:test";
import { Pool } from "pg";
import { openPostgresStore, type PostgresStoreOptions } from "../../src/store/postgres/postgres-store.ts";
import { onEnd } from "./on-end.ts";
import {
  inDatabase,
  isPostgresInstalled,
  PLATFORM,
  type PostgresOptions,
  type PostgresServer,
  SHARED_POSTGRES,
  startPostgres,
} from "./postgres-server.ts";

export { inDatabase };

/** Locks of the database that is asked: other tests share the server, and copies of one template have the same tables by number. */
export const OWN_LOCKS =
  "(SELECT l.* FROM pg_locks AS l JOIN pg_database AS d ON d.oid = l.database WHERE d.datname = current_database()) AS own_locks";

const TEMPLATE_LOCK = 1;
const DAY_MS = 86_400_000;
/** One partition of each table for the next weeks: with one for each day, PostgreSQL would read about twice as many tables and indexes in each connection. */
const KEPT_MS = { events: null, runs: null, requests: null };
/** By day (UTC): partitions of a database begin with the day on which it was migrated, and a run of tests may go on past midnight. */
const templates = new Map<number, Promise<string>>();

let shared: Promise<PostgresServer> | null = null;
/** The connection on which this process creates and drops databases: opening one for each would be a good part of what a database costs. */
let admin: Pool | null = null;
/** What tests of this process share in databases, taken down before the databases are. */
const endings: (() => Promise<void>)[] = [];
after(async () => {
  for (const end of endings) await end();
  if (!process.env[SHARED_POSTGRES]) for (const template of templates.values()) await dropDatabase(await template);
  await admin?.end();
  await (await shared)?.remove();
});

/** Null, or why there can be no PostgreSQL here: the reason a test is skipped for. */
export function whyNoPostgres(): string | null {
  if (process.env.TEST_STORE === "sqlite") return "only the embedded engine was asked for";
  if (process.env.TEST_DATABASE_URL || isPostgresInstalled()) return null;
  return `npm has no PostgreSQL for ${PLATFORM.slice(PLATFORM.indexOf("/") + 1)}: set TEST_DATABASE_URL to test on one of your own`;
}

/** The address of a new, empty database, which is dropped when the test ends. */
export async function freshDatabase(t: TestContext): Promise<string> {
  const name = await createDatabase("template0");
  onEnd(t, () => dropDatabase(name));
  return addressOf(name);
}

/**
 * The same with the schema and partitions for the next weeks in it: a copy of a database that was made once, which takes less time than
 * to migrate it and to create its partitions. Tests of what happens to partitions begin with an empty database.
 */
export async function migratedDatabase(t: TestContext): Promise<string> {
  const { url, drop } = await copyOfTemplate();
  onEnd(t, drop);
  return url;
}

/** The same for a number of tests: whoever calls this drops it. */
export async function copyOfTemplate(): Promise<{ url: string; drop(): Promise<void> }> {
  const today = Math.floor(Date.now() / DAY_MS);
  const template = templates.get(today) ?? (process.env[SHARED_POSTGRES] ? sharedTemplate(`inlet_template_${today}`) : migrateOne());
  templates.set(today, template);
  const name = await createDatabase(await template);
  return { url: await addressOf(name), drop: () => dropDatabase(name) };
}

/** Called when the tests of this process have ended. */
export function onProcessEnd(end: () => Promise<void>): void {
  endings.push(end);
}

/** Healthy work ends within this time on any machine. */
const PATIENT_MS = 60_000;

/** A store that a busy machine does not take for one that is away. */
export function openPatientStore(
  options: Pick<PostgresStoreOptions, "url"> & Partial<PostgresStoreOptions>,
): ReturnType<typeof openPostgresStore> {
  return openPostgresStore({ timeoutMs: PATIENT_MS, onFault: () => undefined, onRecovery: () => undefined, ...options });
}

async function migrateOne(name?: string): Promise<string> {
  const created = await createDatabase("template0", name);
  const store = await openPatientStore({ url: await addressOf(created) });
  await store.retentionMaintain({ now: Date.now(), keptMs: KEPT_MS });
  await store.stop();
  return created;
}

/** Test processes that share a server share the template, too: the first of them makes it, while the others wait. */
async function sharedTemplate(name: string): Promise<string> {
  return inDatabase(await sharedUrl(), async (client) => {
    await client.query("SELECT pg_advisory_lock($1)", [TEMPLATE_LOCK]);
    const { rowCount } = await client.query("SELECT FROM pg_database WHERE datname = $1", [name]);
    return rowCount ? name : migrateOne(name);
  });
}

/** Copied as files: less work than by way of the log when the server does not wait for the disk. */
async function createDatabase(from: string, name = `inlet_${process.pid}_${Math.random().toString(36).slice(2)}`): Promise<string> {
  const text = `CREATE DATABASE ${name} ENCODING 'UTF8' TEMPLATE ${from} STRATEGY FILE_COPY`;
  await administer(text);
  return name;
}

async function dropDatabase(name: string): Promise<void> {
  await administer(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
}

async function administer(text: string): Promise<void> {
  const connectionString = await sharedUrl();
  admin ??= new Pool({ connectionString, max: 1, idleTimeoutMillis: 0, allowExitOnIdle: true }).on("error", () => undefined);
  await admin.query(text);
}

async function addressOf(database: string): Promise<string> {
  const address = new URL(await sharedUrl());
  address.pathname = `/${database}`;
  return address.href;
}

/** A server of its own, for tests that stop it. */
export async function ownPostgres(t: TestContext, options: PostgresOptions = {}): Promise<PostgresServer> {
  const server = await startPostgres(options);
  onEnd(t, () => server.remove());
  return server;
}

async function sharedUrl(): Promise<string> {
  const given = process.env.TEST_DATABASE_URL ?? process.env[SHARED_POSTGRES];
  if (given) return given;
  shared ??= startPostgres({ fsync: false });
  return (await shared).url;
}

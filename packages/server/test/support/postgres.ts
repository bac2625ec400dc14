/**
 * A real PostgreSQL for tests: one per test process, from npm, with its data in a temporary folder; or the one that
 * TEST_DATABASE_URL names. Every test gets a database of its own.
 */

import { after, type TestContext } from "node:test";
import { onEnd } from "./on-end.ts";
import { inDatabase, PLATFORM, type PostgresServer, startPostgres } from "./postgres-server.ts";

export { inDatabase };

let shared: Promise<PostgresServer> | null = null;
after(async () => (await shared)?.remove());

/** Null, or why there can be no PostgreSQL here: the reason a test is skipped for. */
export function whyNoPostgres(): string | null {
  if (process.env.TEST_DATABASE_URL) return null;
  try {
    import.meta.resolve(PLATFORM);
    return null;
  } catch {
    return `npm has no PostgreSQL for ${PLATFORM.slice(PLATFORM.indexOf("/") + 1)}: set TEST_DATABASE_URL to test on one of your own`;
  }
}

/** The address of a new, empty database, which is dropped when the test ends. */
export async function freshDatabase(t: TestContext): Promise<string> {
  const url = await sharedUrl();
  const name = `inlet_${process.pid}_${Math.random().toString(36).slice(2)}`;
  await inDatabase(url, (client) => client.query(`CREATE DATABASE ${name} ENCODING 'UTF8' TEMPLATE template0`));
  onEnd(t, () => inDatabase(url, (client) => client.query(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`)));
  const address = new URL(url);
  address.pathname = `/${name}`;
  return address.href;
}

/** A server of its own, for tests that stop it. */
export async function ownPostgres(t: TestContext): Promise<PostgresServer> {
  const server = await startPostgres();
  onEnd(t, () => server.remove());
  return server;
}

async function sharedUrl(): Promise<string> {
  if (process.env.TEST_DATABASE_URL) return process.env.TEST_DATABASE_URL;
  shared ??= startPostgres();
  return (await shared).url;
}

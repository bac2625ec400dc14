/**
 * Prepares a database that is to hold environments: the schema, the secrets of the directory, and sequences of its own number. Everything
 * after the schema is one transaction, and can be repeated.
 *
 * The row of `installation` in a database keeps a database from belonging to two, and from belonging twice to one: it is written before the database
 * is added, under the lock that a node takes before it works on a database for the first time.
 */

import { setTimeout as pause } from "node:timers/promises";
import type { PoolClient } from "pg";
import { type DatabaseRefused, DIRECTORY_NO } from "../../contract/index.ts";
import { type Database, PostgresDatabase } from "../../postgres/database.ts";
import { aliveNodes, MIGRATION_LOCK } from "../../postgres/nodes/nodes.ts";
import { strangerReason } from "../../postgres/replica/examine-replica.ts";
import { migrate } from "../../postgres/schema/migrate.ts";
import { type LastNumbers, numberSequences } from "./number-sequences.ts";

export interface AdoptionParts {
  no: number;
  /** Of this attempt. */
  membershipId: string;
  url: string;
  readUrl: string | null;
  installationId: string;
  /** The names of the databases that were added, by their membership ids. */
  members: ReadonlyMap<string, string>;
  /** The last numbers of the directory. */
  above: LastNumbers;
  /** As the directory has them. */
  secrets: readonly { name: string; secret: string }[];
  keys: readonly string[];
}

/** Nothing is added. The message is for people. */
export class Refused extends Error {
  readonly code: DatabaseRefused["refused"];

  constructor(code: DatabaseRefused["refused"], reason: string) {
    super(reason);
    this.code = code;
  }
}

const READ_DATABASE = "database of the read URL";
/** From the first connection to the end. Together less than the directory's transaction may stand still meanwhile. */
const ADOPTION_MS = 35_000;
const REPLICA_MS = 20_000;
/** Less than that, so that the reason is known. */
const REPLAY_MS = 18_000;
const ASK_AGAIN_MS = 50;
const WRITE_MEMBERSHIP = `
  INSERT INTO installation VALUES (1, $1, $2, $3)
  ON CONFLICT (only_row) DO UPDATE SET database_no = excluded.database_no, membership_id = excluded.membership_id`;

/** Throws Refused. */
export async function adoptDatabase(parts: AdoptionParts): Promise<void> {
  await within(ADOPTION_MS, { url: parts.url, what: "database" }, async (database) => {
    await withReplica(parts, (replica) => refuseStranger(database, replica));
    await prepare(database, parts);
  });
  // A server that followed the database once, and follows it no longer, does not get the row.
  await withReplica(parts, (replica) => awaitMembership(replica, parts.membershipId));
}

async function withReplica({ readUrl }: AdoptionParts, work: (replica: Database) => Promise<void>): Promise<void> {
  if (readUrl !== null) await within(REPLICA_MS, { url: readUrl, what: READ_DATABASE }, work);
}

async function within(
  ms: number,
  { url, what }: { url: string; what: string },
  work: (database: Database) => Promise<void>,
): Promise<void> {
  const database = new PostgresDatabase({ url, listenUrl: null, connectionsMax: 2, onFault: () => undefined, onRecovery: () => undefined });
  const late = new AbortController();
  try {
    const deadline = pause(ms, undefined, { signal: late.signal, ref: false }).then(() => {
      throw new Error(`it did not answer within ${ms / 1_000} s`);
    });
    await Promise.race([work(database), deadline]);
  } catch (error) {
    if (error instanceof Refused) throw error;
    throw new Refused("database_unreachable", `The ${what} cannot be used: ${reasonOf(error)}.`);
  } finally {
    late.abort();
    // A connection without a response ends later.
    void database.stop().catch(() => {});
  }
}

/** Errors of several addresses of one host have a message only in each of them. */
function reasonOf(error: unknown): string {
  const { message } = error instanceof AggregateError && error.message === "" ? (error.errors[0] as Error) : (error as Error);
  return message.replace(/\.+$/, "");
}

async function refuseStranger(database: Database, replica: Database): Promise<void> {
  const reason = await strangerReason(database, replica);
  if (reason !== null) throw new Error(reason);
}

async function awaitMembership(replica: Database, membershipId: string): Promise<void> {
  for (const until = performance.now() + REPLAY_MS; performance.now() < until; await pause(ASK_AGAIN_MS)) {
    const [found] = await replica.query<{ is_there: boolean; is_standby: boolean }>(
      "SELECT to_regclass('installation') IS NOT NULL AS is_there, pg_is_in_recovery() AS is_standby",
    );
    const rows = found?.is_there ? await replica.query<{ membership_id: string }>("SELECT membership_id FROM installation") : [];
    if (rows[0]?.membership_id === membershipId) return;
    if (!found?.is_standby) throw new Error("it is a copy, not a replica: name a streaming standby of this database");
  }
  throw new Error(
    `it has not received what was written to the database ${REPLAY_MS / 1_000} s ago: check that it replicates this database, and how far it is behind`,
  );
}

async function prepare(database: Database, parts: AdoptionParts): Promise<void> {
  // First of all: a database of somebody else is not even migrated.
  await database.transaction((client) => refuseTaken(client, parts));
  await migrate(database);
  await database.transaction(async (client) => {
    await client.query("SELECT pg_advisory_xact_lock($1)", [MIGRATION_LOCK]);
    await refuseTaken(client, parts);
    await client.query(WRITE_MEMBERSHIP, [parts.installationId, parts.no, parts.membershipId]);
    await client.query("DELETE FROM encryption_key");
    for (const key of parts.keys) await client.query("INSERT INTO encryption_key VALUES (1, $1)", [key]);
    await client.query("DELETE FROM store_secrets");
    for (const { name, secret } of parts.secrets) await client.query("INSERT INTO store_secrets VALUES ($1, $2)", [name, secret]);
    await numberSequences(client, parts.no, parts.above);
  }, "migration");
}

async function refuseTaken(client: PoolClient, { installationId, members }: AdoptionParts): Promise<void> {
  const { rows } = await client.query<{ table: string }>(
    `SELECT name AS table FROM unnest('{installation,environments,nodes,store_copy}'::text[]) AS name WHERE to_regclass(name) IS NOT NULL`,
  );
  const tables = new Set(rows.map(({ table }) => table));
  const membership = tables.has("installation") ? (await client.query<MembershipRow>("SELECT * FROM installation")).rows[0] : undefined;
  if (membership?.installation_id === installationId) return refuseOwn(membership, members);
  const isUsed =
    membership !== undefined ||
    (tables.has("environments") && (await hasRows(client, "environments"))) ||
    (tables.has("store_copy") && (await hasRows(client, "store_copy"))) ||
    (tables.has("nodes") && (await aliveNodes(client)).length > 0);
  if (isUsed) throw new Refused("database_taken", "Another installation uses this database. Name an empty one.");
}

interface MembershipRow {
  installation_id: string;
  database_no: number;
  membership_id: string;
}

/** A membership id that no member has is of an earlier attempt, which did not come to its end. */
function refuseOwn({ database_no: no, membership_id }: MembershipRow, members: ReadonlyMap<string, string>): void {
  if (no === DIRECTORY_NO)
    throw new Refused("database_taken", "This is already the first database of this installation (--database-url): name another one.");
  const name = members.get(membership_id);
  if (name !== undefined) throw new Refused("database_taken", `This installation uses the database already, under the name "${name}".`);
}

async function hasRows(client: PoolClient, table: string): Promise<boolean> {
  return (await client.query(`SELECT FROM ${table} LIMIT 1`)).rowCount !== 0;
}

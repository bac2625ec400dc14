/**
 * The databases on which environments are placed, in the directory. Few rows, read whole.
 *
 * One is added at a time: a transaction of the directory holds a lock from the first check to the row of the new database. A node that
 * dies in between has added nothing, and what it prepared in the other database is prepared again by the next attempt.
 */

import { randomUUID } from "node:crypto";
import type { PoolClient } from "pg";
import { DATABASES_MAX, type DatabaseRefused, type DatabaseStore, DIRECTORY_NO, type PlacedDatabase } from "../../contract/index.ts";
import type { Database } from "../../postgres/database.ts";
import { CHANNEL } from "../../postgres/nodes/announce.ts";
import { ownerOf } from "../../secrets/rows/sealed-rows.ts";
import type { SecretBox } from "../../secrets/rows/secret-box.ts";
import { type AdoptionParts, adoptDatabase, Refused } from "./adopt-database.ts";
import { type LastNumbers, lastNumbers, numberWhileInUse } from "./number-sequences.ts";

interface DatabaseRow {
  database_no: number;
  membership_id: string;
  name: string;
  url: string;
  read_url: string | null;
  created_at: number;
}

const LIST = "SELECT * FROM databases ORDER BY database_no";
const INSERT = "INSERT INTO databases (database_no, membership_id, name, url, read_url, created_at) VALUES ($1, $2, $3, $4, $5, $6)";
const MARK = `INSERT INTO installation VALUES (1, $1, ${DIRECTORY_NO}, $1) ON CONFLICT DO NOTHING`;
const ADD_LOCK = 7_269;
/** As long as another database may take to be added. */
const ADD_WAIT_MS = 60_000;

export function databaseStore({ database, node, box }: { database: Database; node: string; box: SecretBox }): DatabaseStore {
  const toDatabase = ({ database_no: no, name, url, read_url, created_at: createdAt }: DatabaseRow): PlacedDatabase => {
    const opened = (sealed: string) => openUrl(box, no, sealed);
    return { no, name, url: opened(url), readUrl: read_url === null ? null : opened(read_url), createdAt };
  };
  async function add(client: PoolClient, { name, url, readUrl, createdAt }: Omit<PlacedDatabase, "no">): Promise<PlacedDatabase> {
    await client.query(`SET LOCAL lock_timeout = ${ADD_WAIT_MS}`);
    await client.query("SELECT pg_advisory_xact_lock($1)", [ADD_LOCK]);
    const members = (await client.query<DatabaseRow>(LIST)).rows;
    const [no, membershipId] = [nextNumber(members, name), randomUUID()];
    await adoptDatabase({ no, membershipId, url, readUrl, ...(await partsOf(database, members)) });
    const sealed = (text: string) => box.seal(text, ownerOf("databases", no));
    await client.query(INSERT, [no, membershipId, name, sealed(url), readUrl === null ? null : sealed(readUrl), createdAt]);
    await client.query("SELECT pg_notify($1, $2)", [CHANNEL, `${node} directory`]);
    return { no, name, url, readUrl, createdAt };
  }
  return {
    databaseList: async () => (await database.query<DatabaseRow>(LIST)).map(toDatabase),
    databaseAdd: (params) => database.transaction((client) => add(client, params), "migration").catch(refusal),
  };
}

function nextNumber(members: readonly DatabaseRow[], name: string): number {
  if (members.some((member) => member.name === name)) throw new Refused("database_exists", `A database "${name}" already exists.`);
  const no = (members.at(-1)?.database_no ?? DIRECTORY_NO) + 1;
  if (no < DATABASES_MAX) return no;
  throw new Refused("databases_too_many", `An installation has at most ${DATABASES_MAX - 1} databases besides its directory.`);
}

/** What the new database gets of the directory. Its sequences are numbered for several databases before any other is prepared. */
async function partsOf(
  directory: Database,
  members: readonly DatabaseRow[],
): Promise<Pick<AdoptionParts, "members" | "installationId" | "above" | "secrets" | "keys">> {
  await directory.query(MARK, [randomUUID()]);
  await numberWhileInUse(directory, DIRECTORY_NO);
  const [membership] = await directory.query<{ installation_id: string }>("SELECT installation_id FROM installation");
  const above: LastNumbers = await directory.transaction(lastNumbers);
  const secrets = await directory.query<{ name: string; secret: string }>("SELECT name, secret FROM store_secrets");
  const keys = await directory.query<{ key: string }>("SELECT key FROM encryption_key");
  const named = new Map(members.map(({ membership_id, name }) => [membership_id, name]));
  return { members: named, installationId: membership?.installation_id ?? "", above, secrets, keys: keys.map(({ key }) => key) };
}

function refusal(error: unknown): DatabaseRefused {
  if (error instanceof Refused) return { refused: error.code, reason: error.message };
  throw error;
}

function openUrl(box: SecretBox, no: number, sealed: string): string {
  const url = box.open(sealed, ownerOf("databases", no));
  if (url === null) throw new Error(`the URL of the database ${no} is encrypted with a key that is not here`);
  return url;
}

/**
 * Databases of one installation in a rolling upgrade: the directory is migrated first, so no database is ahead of it; then every other. One
 * that cannot be migrated is named, holds up nobody, and follows by itself.
 */

import assert from "node:assert/strict";
import { cpSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { fileURLToPath, pathToFileURL } from "node:url";
import { HOOKS, openPlacedPostgres } from "../../../test/support/conformance-store.ts";
import { inDatabase, migratedDatabase, whyNoPostgres } from "../../../test/support/postgres.ts";
import { until } from "../../../test/support/runs.ts";
import { temporaryFolder } from "../../../test/support/service.ts";
import { sampleBatch, sampleEvent } from "../conformance/samples.ts";
import { type Environment, type Store, StoreRefused, StoreUnavailable } from "../contract/index.ts";
import { SCHEMA_FOLDER } from "../postgres/schema/migrate.ts";

const skip = whyNoPostgres() ?? false;
const HOUR_MS = 3_600_000;

/** The schema of a later release, which takes away what this one needs. */
function laterSchema(t: TestContext): URL {
  const folder = temporaryFolder(t);
  cpSync(fileURLToPath(SCHEMA_FOLDER), folder, { recursive: true });
  writeFileSync(join(folder, "002-later.sql"), "CREATE SEQUENCE later_numbers; UPDATE schema_version SET oldest_program = 2;");
  return pathToFileURL(`${folder}/`);
}

test("the directory is migrated first, then the others; one that cannot be is named, and follows by itself", { skip }, async (t) => {
  const urls = [await migratedDatabase(t), await migratedDatabase(t), await migratedDatabase(t)] as const;
  const [directory, , us] = urls;
  const later = laterSchema(t);
  const faults: { database: string; reason: string }[] = [];
  const open = async (schemaFolder = SCHEMA_FOLDER): Promise<Store> => {
    const log = { error: (fault: object) => void faults.push(fault as (typeof faults)[number]), info: () => undefined };
    const store = await openPlacedPostgres({ url: directory, ...HOOKS, schemaFolder, connectionsMax: 4 }, log as never);
    t.after(() => store.stop());
    return store;
  };
  const query = (url: string, text: string) => inDatabase(url, async (client) => (await client.query(text)).rows);
  const versions = async () =>
    (await Promise.all(urls.map((url) => query(url, "SELECT version FROM schema_version")))).map(([row]) => row.version).join();

  const old = await open();
  const environments: Environment[] = [];
  for (const [no, name] of [
    [1, "eu"],
    [2, "us"],
  ] as const) {
    assert.ok("no" in (await old.databaseAdd({ name, url: urls[no], readUrl: null, createdAt: 1 })));
    const made = { name, kind: "custom", createdAt: 1, bodyBytesMax: null, databaseNo: no } as const;
    environments.push((await old.environmentInsert(made)) as Environment);
  }
  const [inEu, inUs] = environments as [Environment, Environment];
  const accept = (store: Store, environment: Environment) => store.eventAppend(sampleBatch(environment, [sampleEvent()]));
  /** A busy machine may take a database for away for a moment. */
  const accepted = (store: Store, environment: Environment) =>
    until(`an event in ${environment.name}`, () => accept(store, environment).catch(() => undefined));
  const isNamed = (name: string, pattern: RegExp) => faults.some(({ database, reason }) => database === name && pattern.test(reason));

  await assert.rejects(open(later), (error) => error instanceof StoreRefused && error.message.includes(old.storeNode));
  assert.equal(await versions(), "1,1,1", "while an older node works, nothing is taken away from it anywhere");
  await Promise.all([accepted(old, inEu), accepted(old, inUs)]);
  await old.stop();

  // A node that reaches only this one, and is seen there.
  await query(us, `INSERT INTO nodes VALUES ('stray', '0', 1, 0, extract(epoch FROM now()) * 1000 + ${HOUR_MS})`);
  const upgraded = await open(later);
  await accepted(upgraded, inEu);
  await until("the reason", () => isNamed("us", /002-later\.sql takes away .* some still work with this database: stray/) || undefined);
  assert.equal(await versions(), "2,2,1");
  await assert.rejects(accept(upgraded, inUs), StoreUnavailable);
  await query(us, "DELETE FROM nodes WHERE node = 'stray'");
  await accepted(upgraded, inUs);
  assert.equal(await versions(), "2,2,2");
  await upgraded.stop();

  await assert.rejects(open(), (error) => error instanceof StoreRefused && /migrated by a newer version/.test(error.message));
  // What the directory allows, another database may not: it is left out until a newer program comes.
  for (const url of [directory, urls[1]]) await query(url, "UPDATE schema_version SET oldest_program = 1");
  faults.length = 0;
  const older = await open();
  await accepted(older, inEu);
  await until("the reason", () => isNamed("us", /migrated by a newer version/) || undefined);
  await assert.rejects(accept(older, inUs), StoreUnavailable);
});

import assert from "node:assert/strict";
import { cpSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { fileURLToPath, pathToFileURL } from "node:url";
import { freshDatabase, inDatabase, openPatientStore, whyNoPostgres } from "../../../../test/support/postgres.ts";
import { temporaryFolder } from "../../../../test/support/service.ts";
import { StoreRefused } from "../../contract/index.ts";
import { PostgresDatabase } from "../database.ts";
import { MIGRATION_LOCK } from "../nodes/nodes.ts";
import { migrate, SCHEMA_FOLDER } from "./migrate.ts";

const skip = whyNoPostgres() ?? false;

function open(url: string, schemaFolder = SCHEMA_FOLDER) {
  return openPatientStore({ url, schemaFolder });
}

/** The schema of a later release. */
function schemaWith(t: TestContext, files: Record<string, string>): URL {
  const folder = temporaryFolder(t);
  cpSync(fileURLToPath(SCHEMA_FOLDER), folder, { recursive: true });
  for (const [file, sql] of Object.entries(files)) writeFileSync(join(folder, file), sql);
  return pathToFileURL(`${folder}/`);
}

test("a database from before the first release is refused, and left as it is", { skip }, async (t) => {
  const url = await freshDatabase(t);
  await inDatabase(url, async (client) => {
    await client.query(
      "CREATE TABLE schema_version (only_row integer PRIMARY KEY, version integer NOT NULL, oldest_program integer NOT NULL)",
    );
    await client.query("INSERT INTO schema_version VALUES (1, 11, 11); CREATE SEQUENCE number_blocks; CREATE TABLE runs (run_no bigint)");
  });
  await assert.rejects(
    open(url),
    (error) => error instanceof StoreRefused && /before its first release.*Nothing was changed.*empty database/.test(error.message),
  );
  const { rows } = await inDatabase(url, (client) =>
    client.query("SELECT version, to_regclass('events') IS NULL AS is_untouched FROM schema_version"),
  );
  assert.deepEqual(rows, [{ version: 11, is_untouched: true }]);
});

test("functions of the database are replaced whole with an upgrade, and not without one", { skip }, async (t) => {
  const url = await freshDatabase(t);
  await (await open(url)).stop();
  const changed = readFileSync(new URL("functions/first-id-at.sql", SCHEMA_FOLDER), "utf8").replace("repeat('0', 16)", "repeat('1', 16)");
  const endOfId = () => inDatabase(url, async (client) => (await client.query("SELECT right(first_id_at(0), 1) AS last")).rows[0].last);
  await (await open(url, schemaWith(t, { "functions/first-id-at.sql": changed }))).stop();
  assert.equal(await endOfId(), "0", "a release that changes a function has a numbered file that says why");
  await (await open(url, schemaWith(t, { "functions/first-id-at.sql": changed, "002-why.sql": "-- Ids end otherwise." }))).stop();
  assert.equal(await endOfId(), "1");
  await (await open(url)).stop();
  assert.equal(await endOfId(), "1", "an older program that may still work here changes nothing");
});

test("a database that needs no migration is not locked to see it", { skip }, async (t) => {
  const url = await freshDatabase(t);
  await (await open(url)).stop();
  const database = new PostgresDatabase({ url, connectionsMax: 4, listenUrl: null, onFault: () => undefined, onRecovery: () => undefined });
  t.after(() => database.stop());
  await inDatabase(url, async (client) => {
    await client.query("SELECT pg_advisory_lock($1)", [MIGRATION_LOCK]);
    await migrate(database);
  });
});

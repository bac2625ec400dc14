/**
 * A cluster is renewed node by node, so two releases work on one database for a while. The next release is the real program with
 * more migrations: one that only adds, then one that takes away. The rule is told in docs/explanation/scaling.md.
 */

import assert from "node:assert/strict";
import { cpSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { pathToFileURL } from "node:url";
import { StoreRefused } from "../src/store/contract/index.ts";
import { SCHEMA_FOLDER } from "../src/store/postgres/schema/migrate.ts";
import { poll, runsOf, startApp } from "./support/app.ts";
import { inDatabase, migratedDatabase, openPatientStore, whyNoPostgres } from "./support/postgres.ts";
import { call, startTestService, temporaryFolder } from "./support/service.ts";

const skip = whyNoPostgres() ?? false;
const ADDS = "ALTER TABLE events ADD COLUMN of_the_next_release text; CREATE TABLE of_the_next_release (a integer);";
/** What a release may do only when the one before it no longer uses what is taken away. */
const TAKES_AWAY = "DROP TABLE of_the_next_release; UPDATE schema_version SET oldest_program = version + 1;";

/** The migrations of a later release. */
function migrationsWith(t: TestContext, more: Record<string, string>): URL {
  const folder = temporaryFolder(t);
  cpSync(SCHEMA_FOLDER, folder, { recursive: true });
  for (const [file, sql] of Object.entries(more)) writeFileSync(join(folder, file), sql);
  return pathToFileURL(`${folder}/`);
}

function openStore(url: string, schemaFolder: URL, version: string) {
  return openPatientStore({ url, schemaFolder, version });
}

test("a migration that adds: nodes of both releases accept, start and work, and a node of the old one may still start", {
  skip,
}, async (t) => {
  const databaseUrl = await migratedDatabase(t);
  const old = await startTestService(t, { databaseUrl });
  await startApp(t, old, (inlet) => [
    inlet.createFunction({ id: "note" }, { event: "shop/x" }, ({ step }) => step.run("note", () => "noted")),
  ]);
  const next = await openStore(databaseUrl, migrationsWith(t, { "900-adds.sql": ADDS }), "9.0.0");
  t.after(() => next.stop());
  const report = await next.storeReport();
  assert.equal(report.schema, report.schemaKnown);
  assert.equal(report.nodes.length, 2);

  const second = await startTestService(t, { databaseUrl });
  const ready = (await call(`${second.url}/ready`)).body;
  assert.equal(ready.store.schema, ready.store.schemaKnown + 1, "it knows that it is the older one");
  for (const node of [old, second]) {
    const sent = await node.send({ name: "shop/x", data: {} });
    assert.equal(sent.status, 200, sent.text);
    assert.equal((await runsOf(old, sent.body.ids[0]))[0].status, "completed");
  }
});

test("a migration that takes away is not made while a node of the old release works, and then shuts it out", { skip }, async (t) => {
  const databaseUrl = await migratedDatabase(t);
  const old = await startTestService(t, { databaseUrl });
  const later = migrationsWith(t, { "900-adds.sql": ADDS, "901-takes-away.sql": TAKES_AWAY });
  const refused = (pattern: RegExp) => (error: unknown) => error instanceof StoreRefused && pattern.test(error.message);
  await assert.rejects(openStore(databaseUrl, later, "9.1.0"), refused(/901-takes-away\.sql takes away .* still work .*\(\d+\.\d+\.\d+\)/));
  const kept = await inDatabase(databaseUrl, (client) => client.query("SELECT to_regclass('of_the_next_release') IS NOT NULL AS there"));
  assert.equal(kept.rows[0].there, true, "nothing was taken away");
  assert.equal((await old.send({ name: "shop/x", data: {} })).status, 200);

  await old.stop();
  const next = await openStore(databaseUrl, later, "9.1.0");
  await next.stop();
  await assert.rejects(startTestService(t, { databaseUrl }), refused(/newer version of Inlet/));
});

test("a node that stood still while the others were renewed says that it is not ready", { skip }, async (t) => {
  const databaseUrl = await migratedDatabase(t);
  const old = await startTestService(t, { databaseUrl });
  assert.equal((await call(`${old.url}/ready`)).status, 200);
  const later = migrationsWith(t, { "900-adds.sql": ADDS, "901-takes-away.sql": TAKES_AWAY });
  await poll(async () => {
    // Not seen for so long that it counts as gone, which it is not: it may be heard of again before the migration.
    await inDatabase(databaseUrl, (client) => client.query("UPDATE nodes SET last_seen_at = last_seen_at - 60000"));
    const next = await openStore(databaseUrl, later, "9.1.0").catch(() => null);
    await next?.stop();
    return next;
  }, "the migration");
  await poll(async () => ((await call(`${old.url}/ready`)).status === 503 ? true : null), "its next look around");
});

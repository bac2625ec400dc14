/** `inlet migrate-store` refuses what it could damage: a folder in use, a database that is not empty. A store that has moved is used only where it is. */

import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { runHere } from "../../cli/test/support/run-here.ts";
import { MOVED_FILE } from "../src/store/sqlite/folder/moved-folder.ts";
import { openSqliteStore } from "../src/store/sqlite/sqlite-store.ts";
import { freshDatabase, whyNoPostgres } from "./support/postgres.ts";
import { runInlet, startInlet } from "./support/process.ts";
import { startTestService, temporaryFolder } from "./support/service.ts";

const skip = whyNoPostgres() ?? false;
const hooks = { onFault: () => undefined, onRecovery: () => undefined };

test("a folder in use, a database that is not empty, and a store that has moved are refused", { skip }, async (t) => {
  const dataDir = temporaryFolder(t);
  const databaseUrl = await freshDatabase(t);
  const inUse = await startInlet(t, ["start", "--port", "0", "--host", "127.0.0.1", "--data-dir", dataDir]);
  const argv = (to: string, from = dataDir) => ["migrate-store", "--from", from, "--to", to];
  const move = (to: string, from = dataDir) => runHere(dataDir, argv(to, from), {});
  const held = await runInlet(t, argv(databaseUrl));
  assert.equal(held.code, 1);
  assert.match(held.stderr, /in use by another Inlet process/);
  await inUse.end("SIGTERM");

  const used = await freshDatabase(t);
  const other = await startTestService(t, { databaseUrl: used });
  assert.match((await move(used)).stderr, /the node \S+ works on this database/);
  await other.stop();
  const full = await move(used);
  assert.equal(full.code, 1);
  assert.match(full.stderr, /not empty: there are rows in environments/);
  assert.equal(existsSync(join(dataDir, MOVED_FILE)), false, "the folder was not touched");
  assert.match((await move(databaseUrl, temporaryFolder(t))).stderr, /there is no store in the folder/);
  assert.equal((await move("postgres://postgres@127.0.0.1:1/none")).code, 3);
  assert.equal((await move("mysql://127.0.0.1/none")).code, 2);

  assert.equal((await move(databaseUrl)).code, 0);
  assert.equal((await move(databaseUrl)).code, 0, "once more finds everything there");
  const again = await runInlet(t, ["start", "--port", "0", "--data-dir", dataDir]);
  assert.equal(again.code, 1);
  assert.match(again.stderr, /was moved to postgres:\/\/127\.0\.0\.1[^ ]*: start with --database-url/);
  const doctor = await runInlet(t, ["doctor", "--port", "0", "--data-dir", dataDir]);
  assert.match(doctor.stdout, /^warning {2}data folder: its data was moved to postgres:/m);
  assert.match((await move(await freshDatabase(t))).stderr, /was moved to postgres:\/\/\S+ already/);
  const stranger = temporaryFolder(t);
  await openSqliteStore({ folder: stranger, ...hooks }).stop();
  assert.match((await move(databaseUrl, stranger)).stderr, /holds the copy of another store/);
});

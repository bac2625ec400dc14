/** `inlet env move`: to its end or detached, and what it says when a move is refused or fails. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { freshDatabase, inDatabase, migratedDatabase, whyNoPostgres } from "../../server/test/support/postgres.ts";
import { PATIENT_DATABASE_TIMEOUT } from "../../server/test/support/process.ts";
import { startServer, workingFolder } from "./support/working-folder.ts";

const skip = whyNoPostgres() ?? false;

test("an environment is moved, and the command says what became of it", { skip }, async (t) => {
  const flags = ["--database-url", await migratedDatabase(t), "--database-timeout", PATIENT_DATABASE_TIMEOUT];
  const { variables, rest } = await startServer(t, flags);
  const place = workingFolder(t, variables);
  const [eu, us] = [await freshDatabase(t), await freshDatabase(t)];
  for (const [name, url] of Object.entries({ eu, us })) assert.equal((await place.inlet(["databases", "add", name, url])).code, 0);
  assert.equal((await place.inlet(["env", "create", "payments", "--kind", "custom", "--database", "eu"])).code, 0);
  const whereIs = async () => (await rest("GET", "/environments/payments")).database;

  const moved = await place.inlet(["env", "move", "payments", "--to", "directory"]);
  assert.equal(moved.code, 0, moved.stderr);
  assert.match(moved.stdout, /^Moved payments to directory: \d+ rows\.\n$/);
  assert.equal(await whereIs(), "directory");

  for (const [argv, code, reason] of [
    [["payments", "--to", "directory"], 1, /request_invalid/],
    [["payments", "--to", "asia"], 1, /database_not_found/],
    [["nothing", "--to", "eu"], 1, /environment_not_found/],
    [["payments"], 2, /--to is missing/],
  ] as const) {
    const refused = await place.inlet(["env", "move", ...argv]);
    assert.equal(refused.code, code, refused.stderr);
    assert.match(refused.stderr, reason);
  }

  await inDatabase(us, (client) => client.query("UPDATE schema_version SET version = version + 1"));
  const failed = await place.inlet(["env", "move", "payments", "--to", "us"]);
  assert.equal(failed.code, 1);
  assert.match(failed.stdout, /^payments stays where it was: the move was not possible\.\nThe databases have different schemas/);
  assert.equal(await whereIs(), "directory");

  const detached = await place.inlet(["env", "move", "payments", "--to", "eu", "--detach", "--json"]);
  assert.equal(detached.code, 0, detached.stderr);
  const { id, kind } = JSON.parse(detached.stdout);
  assert.equal(kind, "environments.move");
  assert.equal((await place.inlet(["jobs", "watch", id, "--env", "payments"])).code, 0);
  assert.equal(await whereIs(), "eu");
});

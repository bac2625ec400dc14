/**
 * If PostgreSQL goes away while a node starts, the node says so in one line and ends with exit code 1, so that a supervisor starts it
 * again. Each point of the start is named, and the test fails if the node never comes to it.
 */

import assert from "node:assert/strict";
import { once } from "node:events";
import { test } from "node:test";
import { type Cut, cuttingProxy } from "./support/cutting-proxy.ts";
import { migratedDatabase, whyNoPostgres } from "./support/postgres.ts";
import { spawnInlet } from "./support/process.ts";

const skip = whyNoPostgres() ?? false;
const DURING_THE_START = /^error: the store could not be used during the start: PostgreSQL cannot be reached \([^\n]*\)\. Start again\.\n$/;
const WHILE_OPENING = /^error: the database cannot be used: PostgreSQL cannot be reached \([^\n]*\)\. See --database-url\.\n$/;

const POINTS: [point: string, Cut, says: RegExp][] = [
  ["the schema is read", { statement: /SELECT \* FROM schema_version/, when: "before" }, WHILE_OPENING],
  ["the node has recorded itself", { statement: /INSERT INTO nodes/, when: "after" }, WHILE_OPENING],
  ["the store is open, and its environments are read", { statement: /SELECT \* FROM environments/, when: "before" }, DURING_THE_START],
  ["a first key is written", { statement: /INSERT INTO keys/, when: "before" }, DURING_THE_START],
  ["a first key was written", { statement: /COMMIT/, when: "after", following: /INSERT INTO keys/ }, DURING_THE_START],
  ["the functions are read", { statement: /SELECT \* FROM functions/, when: "before" }, DURING_THE_START],
  ["HTTP is open, and the backlog is read", { statement: /WITH RECURSIVE walk/, when: "before" }, DURING_THE_START],
];

for (const [point, cut, says] of POINTS) {
  test(`PostgreSQL goes away when ${point}`, { skip }, async (t) => {
    const proxy = await cuttingProxy(t, await migratedDatabase(t));
    const isCut = proxy.cut(cut).then(() => proxy.close());
    const argv = ["start", "--port", "0", "--host", "127.0.0.1", "--log-level", "fatal", "--database-url", proxy.url];
    const inlet = spawnInlet(t, argv);
    const ended = once(inlet.child, "close");
    await isCut;
    assert.deepEqual(await ended, [1, null]);
    assert.match(inlet.stderr(), says);
    assert.equal(inlet.stdout(), "");
  });
}

test("a database that is not there is named in one line", { skip }, async (t) => {
  const url = new URL(await migratedDatabase(t));
  url.pathname += "_not_there";
  const argv = ["start", "--port", "0", "--host", "127.0.0.1", "--log-level", "fatal", "--database-url", url.href];
  const inlet = spawnInlet(t, argv);
  assert.deepEqual(await once(inlet.child, "close"), [1, null]);
  assert.match(inlet.stderr(), WHILE_OPENING);
});

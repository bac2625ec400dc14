/** Adding a database: it is prepared whole or not added, and belongs to one installation. */

import assert from "node:assert/strict";
import { cpSync, writeFileSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { pathToFileURL } from "node:url";
import { cuttingProxy } from "../../../../test/support/cutting-proxy.ts";
import { onEnd } from "../../../../test/support/on-end.ts";
import { freshDatabase, inDatabase, migratedDatabase, openPatientStore, whyNoPostgres } from "../../../../test/support/postgres.ts";
import { temporaryFolder } from "../../../../test/support/service.ts";
import { makeEnvironment, sampleBatch, sampleEvent } from "../../conformance/samples.ts";
import type { DatabaseRefused, PlacedDatabase, Store } from "../../contract/index.ts";
import type { PostgresStoreOptions } from "../../postgres/postgres-store.ts";
import { SCHEMA_FOLDER } from "../../postgres/schema/migrate.ts";

const skip = whyNoPostgres() ?? false;

test("an added database has the directory's secrets and numbers of its own, and its URL is encrypted", { skip }, async (t) => {
  const directory = await migratedDatabase(t);
  const store = await open(t, directory);
  await writeEvents(store, "production", 5);
  const [first, second] = [await freshDatabase(t), await migratedDatabase(t)];
  assert.deepEqual(await add(store, "eu", first), { no: 1, name: "eu", url: first, readUrl: null, createdAt: 1 });
  // As managed services have it while there is no replica.
  const us = { name: "us", url: second, readUrl: second, createdAt: 2 };
  assert.deepEqual(await store.databaseAdd(us), { no: 2, ...us });
  assert.deepEqual(await (await open(t, directory)).databaseList(), [
    { no: 1, name: "eu", url: first, readUrl: null, createdAt: 1 },
    { no: 2, ...us },
  ]);
  const stored = await inDatabase(directory, async (client) => JSON.stringify((await client.query("SELECT * FROM databases")).rows));
  assert.doesNotMatch(stored, /postgres:/, "URLs are not stored in plain text");

  const last = (await sequencesOf(directory)).map(({ name, last_value }) => [name, last_value] as const);
  for (const [no, url] of [directory, first, second].entries()) {
    for (const { name, increment_by, next } of await sequencesOf(url, true)) {
      assert.deepEqual([name, increment_by, next % 64], [name, 64, no]);
      assert.ok(next > (new Map(last).get(name) ?? 0), `${name} of ${no} goes on above the directory's`);
    }
  }
  const member = await open(t, first);
  assert.equal(member.storeKeyHash("a"), store.storeKeyHash("a"));
  assert.equal(member.storeLinkToken("a"), store.storeLinkToken("a"));
});

test("sequences of a later release, and URLs under another key, are those of several databases too", { skip }, async (t) => {
  const directory = await migratedDatabase(t);
  const url = await migratedDatabase(t);
  await add(await open(t, directory), "eu", url);
  const folder = temporaryFolder(t);
  cpSync(SCHEMA_FOLDER, folder, { recursive: true });
  writeFileSync(join(folder, "002-later.sql"), "CREATE SEQUENCE later_numbers;");
  const later = { schemaFolder: pathToFileURL(`${folder}/`), encryptionKeys: ["k".repeat(32)] };
  for (const [no, database] of [directory, url].entries()) {
    const store = await open(t, database, later);
    const found = (await sequencesOf(database, true)).find(({ name }) => name === "later_numbers");
    assert.deepEqual([found?.increment_by, (found?.next ?? 0) % 64], [64, no]);
    if (no === 0) assert.deepEqual((await store.databaseList())[0]?.url, url);
  }
});

test("a database is refused that is no PostgreSQL, is silent, or belongs to anybody already", { skip }, async (t) => {
  const directory = await migratedDatabase(t);
  const store = await open(t, directory);
  const eu = await migratedDatabase(t);
  await add(store, "eu", eu);
  const refusedAs = async (name: string, url: string, readUrl: string | null = null) => {
    const answer = (await store.databaseAdd({ name, url, readUrl, createdAt: 1 })) as DatabaseRefused;
    return [answer.refused, answer.reason];
  };
  assert.deepEqual(await refusedAs("eu", eu), ["database_exists", 'A database "eu" already exists.']);
  assert.deepEqual(await refusedAs("us", eu), ["database_taken", 'This installation uses the database already, under the name "eu".']);
  assert.deepEqual(await refusedAs("us", directory), [
    "database_taken",
    "This is already the first database of this installation (--database-url): name another one.",
  ]);

  const other = await migratedDatabase(t);
  await makeEnvironment(await open(t, other));
  const before = await inDatabase(other, async (client) => (await client.query("SELECT * FROM installation")).rows);
  assert.equal((await refusedAs("us", other))[0], "database_taken", "another installation, which has one database");
  assert.deepEqual(await inDatabase(other, async (client) => (await client.query("SELECT * FROM installation")).rows), before);
  const third = await migratedDatabase(t);
  await add(await open(t, other), "us", third);
  assert.equal((await refusedAs("us", third))[0], "database_taken", "the database of another installation");

  const foreign = await freshDatabase(t);
  await inDatabase(foreign, (client) => client.query("CREATE TABLE runs (n integer)"));
  assert.match(
    (await refusedAs("us", foreign)).join(),
    /^database_unreachable,The database cannot be used: relation "runs" already exists/,
  );
  const missing = new URL(eu);
  missing.pathname = "/nowhere";
  assert.match(
    (await refusedAs("us", missing.href)).join(),
    /^database_unreachable,The database cannot be used: PostgreSQL cannot be reached \(database "nowhere" does not/,
  );
  const silent = await silentServer(t);
  assert.match((await refusedAs("us", silent)).join(), /^database_unreachable,The database cannot be used: PostgreSQL cannot be reached/);
  const free = await migratedDatabase(t);
  assert.match((await refusedAs("us", free, "postgres://u@127.0.0.1:1/x")).join(), /^database_unreachable,The database of the read URL/);
  const refused = [
    "database_unreachable",
    `The database of the read URL cannot be used: its database is "${nameOf(eu)}" and not "${nameOf(free)}".`,
  ];
  assert.deepEqual(await refusedAs("us", free, eu), refused);
  assert.deepEqual(
    (await store.databaseList()).map(({ name }) => name),
    ["eu"],
  );
});

function nameOf(url: string): string {
  return new URL(url).pathname.slice(1);
}

test("of concurrent nodes that add the same database, one succeeds", { skip }, async (t) => {
  const directory = await migratedDatabase(t);
  const [one, two] = [await open(t, directory), await open(t, directory)];
  const url = await freshDatabase(t);
  const answers = await Promise.all(
    [one, two, one].map((store, n) => store.databaseAdd({ name: n === 0 ? "eu" : "us", url, readUrl: null, createdAt: 1 })),
  );
  assert.equal(answers.filter((answer) => "no" in answer).length, 1, JSON.stringify(answers));
  assert.equal((await one.databaseList()).length, 1);
});

test("a node that ends before the database is added has added nothing, and a second attempt succeeds", { skip }, async (t) => {
  const directory = await migratedDatabase(t);
  const proxy = await cuttingProxy(t, directory);
  const store = await open(t, proxy.url);
  const [url, other] = [await freshDatabase(t), await migratedDatabase(t)];
  const cut = proxy.cut({ statement: /INSERT INTO databases/, when: "before" });
  await assert.rejects(() => add(store, "eu", url));
  await cut;
  assert.deepEqual(await store.databaseList(), []);
  assert.equal((await add(store, "us", other)).no, 1, "its number is free");
  assert.equal((await add(store, "eu", url)).no, 2);
  for (const { name, next } of await sequencesOf(url, true)) assert.deepEqual([name, next % 64], [name, 2]);
});

test("writers that go on while the directory is numbered anew get no number twice", { skip }, async (t) => {
  const store = await open(t, await migratedDatabase(t));
  let adding = true;
  const writing = Promise.all(["a", "b", "c"].map(async (name) => writeEvents(store, name, 5, () => adding)));
  await add(store, "eu", await freshDatabase(t));
  adding = false;
  const sequences = (await writing).flat();
  assert.equal(new Set(sequences).size, sequences.length);
  const after = await writeEvents(store, "d", 3);
  assert.ok(Math.min(...after) > Math.max(...sequences), "the order goes on");
  assert.deepEqual(
    after.map((sequence) => sequence % 64),
    [0, 0, 0],
  );
});

async function open(t: TestContext, url: string, more: Partial<PostgresStoreOptions> = {}): Promise<Store> {
  const store = await openPatientStore({ ...more, url });
  onEnd(t, () => store.stop());
  return store;
}

async function add(store: Store, name: string, url: string): Promise<PlacedDatabase> {
  const answer = await store.databaseAdd({ name, url, readUrl: null, createdAt: 1 });
  assert.ok("no" in answer, JSON.stringify(answer));
  return answer;
}

/** Returns the sequence numbers: at least so many, and more for as long as `goesOn`. */
async function writeEvents(store: Store, name: string, count: number, goesOn = () => false): Promise<number[]> {
  const environment = await makeEnvironment(store, name);
  const sequences: number[] = [];
  while (sequences.length < count || goesOn()) {
    const { ids } = await store.eventAppend(sampleBatch(environment, [sampleEvent()]));
    for (const id of ids) sequences.push((await store.eventGet({ environmentId: environment.id, id }))?.sequence as number);
  }
  return sequences;
}

interface Sequence {
  name: string;
  last_value: number;
  increment_by: number;
  next: number;
}

async function sequencesOf(url: string, next = false): Promise<Sequence[]> {
  const text = `
    SELECT sequencename AS name, coalesce(last_value, 0)::integer AS last_value, increment_by::integer,
      ${next ? "nextval(sequencename::regclass)::integer" : "0"} AS next
    FROM pg_sequences WHERE schemaname = 'public'`;
  return inDatabase(url, async (client) => (await client.query<Sequence>(text)).rows);
}

/** Accepts connections, and answers nothing. */
async function silentServer(t: TestContext): Promise<string> {
  const server = createServer((socket) => socket.on("error", () => undefined));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onEnd(t, () => server.close());
  return `postgres://u:p@127.0.0.1:${(server.address() as AddressInfo).port}/x`;
}

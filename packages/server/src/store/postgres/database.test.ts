import assert from "node:assert/strict";
import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { type TestContext, test } from "node:test";
import { onEnd } from "../../../test/support/on-end.ts";
import { freshDatabase, inDatabase, OWN_LOCKS, whyNoPostgres } from "../../../test/support/postgres.ts";
import { StoreUnavailable } from "../contract/index.ts";
import { type Database, PostgresDatabase } from "./database.ts";
import { createAnnounced } from "./nodes/announce.ts";

const skip = whyNoPostgres() ?? false;
/** The byte that "ready for query" begins with, its length, and that no transaction is open. */
const READY = Buffer.from("Z\0\0\0\x05I", "latin1");

test("a new connection that PostgreSQL ends at once: the transaction fails, the process does not", { skip }, async (t) => {
  const url = await freshDatabase(t);
  const others = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()";
  let ending: Promise<unknown> = Promise.resolve();
  const end = () => (ending = inDatabase(url, (client) => client.query(others)));
  const database = new PostgresDatabase({
    url: await endingProxy(t, url, end),
    connectionsMax: 1,
    listenUrl: null,
    onFault: () => undefined,
    onRecovery: () => undefined,
  });
  onEnd(t, () => database.stop());
  await assert.rejects(
    database.transaction((client) => client.query("SELECT 1")),
    StoreUnavailable,
  );
  // Else its own connection would be cut when the database is dropped.
  await ending;
});

test("a statement that PostgreSQL ends to resolve a deadlock is done again", { skip }, (t) =>
  checkCrossing(t, (database) => database.query(CROSSING)),
);

test("and so is a change of what every node caches", { skip }, (t) =>
  checkCrossing(t, (database) => createAnnounced(database, "node")("registry", async (client) => (await client.query(CROSSING)).rows)),
);

const CROSSING = "SELECT pg_advisory_xact_lock(2), pg_advisory_xact_lock(1), 'done' AS told";

async function checkCrossing(t: TestContext, work: (database: Database) => Promise<{ told?: string }[]>): Promise<void> {
  const url = await freshDatabase(t);
  // The one that looks for deadlocks first is the one that is ended. It looks once, when both wait.
  await inDatabase(url, (client) => client.query(`ALTER DATABASE ${new URL(url).pathname.slice(1)} SET deadlock_timeout = '4s'`));
  const hooks = { onFault: () => undefined, onRecovery: () => undefined };
  const database = new PostgresDatabase({ url, connectionsMax: 1, listenUrl: null, timeoutMs: 120_000, ...hooks });
  onEnd(t, () => database.stop());
  await inDatabase(url, async (other) => {
    await other.query("BEGIN");
    await other.query("SET LOCAL deadlock_timeout = '100s'");
    await other.query("SELECT pg_advisory_xact_lock(1)");
    const crossing = work(database);
    while ((await other.query(`SELECT FROM ${OWN_LOCKS} WHERE locktype = 'advisory' AND NOT granted`)).rowCount === 0);
    await other.query("SELECT pg_advisory_xact_lock(2)");
    await other.query("COMMIT");
    assert.equal((await crossing)[0]?.told, "done");
  });
}

test("work that is over its time limit is a fault of the server; maintenance that is over its own is not", { skip }, async (t) => {
  const url = await freshDatabase(t);
  const faults: string[] = [];
  const database = new PostgresDatabase({
    url,
    connectionsMax: 4,
    listenUrl: null,
    timeoutMs: 3_000,
    onFault: (reason: string) => faults.push(reason),
    onRecovery: () => undefined,
  });
  onEnd(t, () => database.stop());
  await inDatabase(url, async (other) => {
    await other.query("CREATE TABLE cleaned ()");
    await other.query("BEGIN");
    await other.query("LOCK TABLE cleaned IN SHARE UPDATE EXCLUSIVE MODE");
    const isRefused = (error: unknown) => error instanceof StoreUnavailable && /lock/.test(error.message);
    await assert.rejects(database.query("ANALYZE cleaned", [], "maintenance"), isRefused);
    assert.deepEqual(faults, []);
    await assert.rejects(database.query("ANALYZE cleaned"), isRefused);
    assert.equal(faults.length, 1);
    await other.query("COMMIT");
  });
});

/** Ends each connection when it is ready, and passes on in one piece that it is ready and that it was ended. */
async function endingProxy(t: TestContext, url: string, end: () => Promise<unknown>): Promise<string> {
  const address = new URL(url);
  const { hostname, port } = address;
  const server = createServer((client) => {
    const behind = connect(Number(port || 5432), hostname);
    const held: Buffer[] = [];
    client.pipe(behind);
    behind.on("data", (chunk) => {
      held.push(chunk);
      if (chunk.includes(READY)) void end();
    });
    behind.on("end", () => client.end(Buffer.concat(held)));
    for (const socket of [client, behind] as Socket[]) socket.on("error", () => socket.destroy());
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onEnd(t, () => server.close());
  address.host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  return address.href;
}

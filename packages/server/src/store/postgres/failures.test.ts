import assert from "node:assert/strict";
import { createServer, type Server, type Socket } from "node:net";
import { type TestContext, test } from "node:test";
import { Client, Pool } from "pg";
import { freshDatabase, whyNoPostgres } from "../../../test/support/postgres.ts";
import { EnvironmentMoved, StoreUnavailable } from "../contract/index.ts";
import { isCollision, isConnectionLost, serverFault, translate } from "./failures.ts";

const skip = whyNoPostgres() ?? false;

function withCode(code: string, message = "what it says"): Error {
  return Object.assign(new Error(message), { code });
}

async function failureOf(work: () => Promise<unknown>): Promise<Error> {
  try {
    await work();
  } catch (error) {
    assert.ok(error instanceof Error);
    return error;
  }
  throw new Error("it did not fail");
}

test("codes say what is an outage, what met another transaction, and what is our own fault", () => {
  for (const code of ["08006", "53300", "53100", "57P01", "57P03", "58030", "25006", "25P04", "55P03", "57014", "XX000"]) {
    assert.notEqual(serverFault(withCode(code)), null, code);
  }
  for (const code of ["ECONNREFUSED", "ECONNRESET", "EPIPE", "ETIMEDOUT", "ENOTFOUND"])
    assert.notEqual(serverFault(withCode(code)), null, code);
  for (const code of ["40P01", "40001"]) assert.deepEqual([serverFault(withCode(code)), isCollision(withCode(code))], [null, true], code);
  for (const code of ["42601", "42P01", "23505", "22P02", "ERR_INVALID_ARG_TYPE"]) assert.equal(serverFault(withCode(code)), null, code);
});

test("an environment that may not be written here is no fault of the server", () => {
  const refused = withCode("IN001");
  assert.equal(serverFault(refused), null);
  assert.ok(translate(refused) instanceof EnvironmentMoved);
  assert.ok(translate(refused) instanceof StoreUnavailable);
  assert.ok(!(translate(withCode("57P01")) instanceof EnvironmentMoved));
});

test("what was sent may have been done when the connection broke, and not when it was never made", () => {
  for (const code of ["08006", "57P01", "ECONNRESET", "EPIPE"]) assert.equal(isConnectionLost(withCode(code)), true, code);
  for (const code of ["ECONNREFUSED", "ENOTFOUND", "53300", "42601"]) assert.equal(isConnectionLost(withCode(code)), false, code);
});

test("a fault of ours is no outage, whatever its text says", () => {
  for (const text of ["the connection was ended", "Connection lost", "the stream has ended", "a timeout exceeded", "x was closed"]) {
    assert.equal(serverFault(new Error(text)), null, text);
    assert.equal(serverFault(new TypeError(text)), null, text);
    assert.equal(isConnectionLost(new Error(text)), false, text);
  }
  assert.equal(serverFault("Connection terminated"), null);
});

/** A server that takes connections and does with them what the test says. */
async function startServer(t: TestContext, onSocket: (socket: Socket) => void): Promise<string> {
  const sockets = new Set<Socket>();
  const server: Server = createServer((socket) => {
    sockets.add(socket);
    socket.on("error", () => {});
    onSocket(socket);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  t.after(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  const address = server.address();
  assert.ok(address && typeof address === "object");
  return `postgres://nobody@127.0.0.1:${address.port}/none`;
}

test("each error that the client throws without a code is known", { skip }, async (t) => {
  const silent = await startServer(t, () => {});
  const closing = await startServer(t, (socket) => socket.end());
  const url = await freshDatabase(t);

  const lateClient = new Client({ connectionString: silent, connectionTimeoutMillis: 50 });
  assert.notEqual(serverFault(await failureOf(() => lateClient.connect())), null);
  const pool = new Pool({ connectionString: silent, connectionTimeoutMillis: 50 });
  assert.notEqual(serverFault(await failureOf(() => pool.query("SELECT 1"))), null);
  await pool.end();
  const full = new Pool({ connectionString: url, max: 1, connectionTimeoutMillis: 60_000 });
  const taken = await full.connect();
  // The pool says that it has ended before its connections have: the database may be dropped meanwhile.
  taken.on("error", () => {});
  full.options.connectionTimeoutMillis = 50;
  const refused = await failureOf(() => full.query("SELECT 1"));
  assert.deepEqual([serverFault(refused) !== null, isConnectionLost(refused)], [true, false], refused.message);
  taken.release();
  await full.end();

  const closed = await failureOf(() => new Client({ connectionString: closing }).connect());
  assert.deepEqual([serverFault(closed) !== null, isConnectionLost(closed)], [true, true], closed.message);

  const client = new Client({ connectionString: url, query_timeout: 50 });
  client.on("error", () => {});
  await client.connect();
  const slow = await failureOf(() => client.query("SELECT pg_sleep(5)"));
  assert.deepEqual([serverFault(slow) !== null, isConnectionLost(slow)], [true, true], slow.message);
  const ended = client.end();
  assert.notEqual(serverFault(await failureOf(() => client.query("SELECT 1"))), null);
  await ended;
  assert.notEqual(serverFault(await failureOf(() => client.query("SELECT 1"))), null);
});

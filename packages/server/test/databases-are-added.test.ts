/**
 * Databases of an installation: added by whoever may manage everything, listed with their environments, and refused with a reason. A URL
 * is in no response, log line or entry of the audit log.
 */

import assert from "node:assert/strict";
import { type AddressInfo, createServer } from "node:net";
import { test as nodeTest, type TestContext } from "node:test";
import { pino } from "pino";
import { onEnd } from "./support/on-end.ts";
import { freshDatabase, inDatabase, migratedDatabase, whyNoPostgres } from "./support/postgres.ts";
import { until } from "./support/runs.ts";
import { type Answer, EVENT_KEY, SIGNING_KEY, startTestService, type TestService } from "./support/service.ts";

const skip = whyNoPostgres() ?? false;
/** A part of every URL that is sent. */
const SECRET = "hunter2secret";
const ADMINS = ["owner", "admin"];
const READERS = [...ADMINS, "operator", "viewer"];
const ROLES = [...READERS, "metrics", "ingest-admin"];

const code = ({ status, body }: Answer) => [status, body?.code];

nodeTest("databases are added, listed and refused, and no URL is shown", { skip }, async (t) => {
  const said: string[] = [];
  const log = pino({ level: "trace" }, { write: (line: string) => void said.push(line) });
  const databaseUrl = await migratedDatabase(t);
  const service = await startTestService(t, { hasDefaultConnections: true, databaseUrl, log });
  const rest = async (...call: Parameters<TestService["rest"]>) => {
    const answer = await service.rest(...call);
    assert.doesNotMatch(answer.text, new RegExp(SECRET), "the response does not repeat the URL");
    return answer;
  };
  const add = (name: string, url: string, more: object = {}, headers: Record<string, string> = {}) =>
    rest("POST", "/databases", { body: { name, url, ...more }, headers });
  const [eu, us, later] = [withSecret(await freshDatabase(t)), withSecret(await freshDatabase(t)), await migratedDatabase(t)];

  const sized = () => databasesWithSizes(rest);
  const [{ bytes, ...first }] = (await sized()) as [ShownDatabase];
  assert.deepEqual(first, { name: "directory", environments: ["production"], reachable: true });
  assert.ok(bytes > 1_000_000);

  await t.test("only a role that holds everywhere sees them, and only an admin adds one", async () => {
    for (const environments of [null, ["production"]]) {
      for (const role of environments ? ROLES.filter((one) => one !== "owner") : ROLES) {
        const { body } = await rest("POST", "/keys", { body: { kind: "api", name: "k", role, environments } });
        const headers = { authorization: `Bearer ${body.data.key}` };
        const isEverywhere = environments === null;
        const listed = await rest("GET", "/databases", { headers });
        assert.equal(listed.status, isEverywhere && READERS.includes(role) ? 200 : 403, `${role} of ${environments}: ${listed.text}`);
        const added = await add("nope", "not a URL", {}, headers);
        assert.equal(added.status, isEverywhere && ADMINS.includes(role) ? 400 : 403, `${role} of ${environments}: ${added.text}`);
        const moved = await rest("POST", "/environments/production/move", { body: { database: "nope" }, headers });
        assert.equal(moved.status, isEverywhere && ADMINS.includes(role) ? 404 : 403, `${role} of ${environments}: ${moved.text}`);
      }
    }
    for (const key of ["no", EVENT_KEY, SIGNING_KEY]) {
      const headers = { authorization: `Bearer ${key}` };
      assert.deepEqual(code(await add("eu", eu, {}, headers)), [401, "api_key_invalid"]);
      assert.deepEqual(code(await rest("GET", "/databases", { headers })), [401, "api_key_invalid"]);
      const moved = await rest("POST", "/environments/production/move", { body: { database: "directory" }, headers });
      assert.deepEqual(code(moved), [401, "api_key_invalid"]);
    }
  });

  await t.test("what cannot be added is refused with its reason", async () => {
    for (const url of [`mysql://u:${SECRET}@h/x`, `postgres://u:${SECRET}#@h/x`, `u:${SECRET}@h/x`, SECRET, ""])
      assert.deepEqual(code(await add("eu", url)), [400, "database_invalid"], url);
    assert.deepEqual(code(await add("eu", eu, { readUrl: SECRET })), [400, "database_invalid"]);
    // A file without an end, one that is not there, and sockets: none is opened, or its error tells nothing but the address.
    for (const url of [
      withFile("sslrootcert", "/dev/zero"),
      withFile("sslkey", `/${SECRET}`),
      `socket:///tmp/${SECRET}?db=x`,
      "file:///x",
    ]) {
      assert.deepEqual(code(await add("eu", url)), [400, "database_invalid"], url);
      assert.deepEqual(code(await add("eu", eu, { readUrl: url })), [400, "database_invalid"], url);
    }
    for (const url of [`postgres:///x?host=/nowhere&password=${SECRET}`, `${eu}&port=99999`, `${eu}&port=x`, `${eu}&sslmode=verify-full`])
      assert.deepEqual(code(await add("eu", url)), [502, "database_unreachable"], url);
    for (const body of [{ name: "eu" }, { name: "e u", url: eu }, { name: "eu", url: eu, password: SECRET }, { name: "eu", url: 1 }])
      assert.deepEqual(code(await rest("POST", "/databases", { body })), [400, "request_invalid"]);
    assert.deepEqual(code(await add("eu", `postgres://u:${SECRET}@127.0.0.1:1/x`)), [502, "database_unreachable"]);
    for (const url of [withSecret(databaseUrl), elsewhere(databaseUrl)])
      assert.deepEqual(code(await add("eu", url)), [409, "database_taken"], "the directory, however it is spelled");
    assert.deepEqual(code(await add("directory", eu)), [409, "database_exists"]);
    const readOnly = await add("eu", `${eu}&options=-c%20default_transaction_read_only%3Don`);
    assert.deepEqual(code(readOnly), [502, "database_unreachable"]);
    assert.match(readOnly.body.error, /read-only transaction/, "as a standby is");
    await inDatabase(later, (client) => client.query("UPDATE schema_version SET version = 99, oldest_program = 98"));
    const tooNew = await add("eu", later);
    assert.deepEqual(code(tooNew), [502, "database_unreachable"]);
    assert.match(tooNew.body.error, /migrated by a newer version of Inlet/);
    assert.equal((await rest("GET", "/databases")).body.data.length, 1, "nothing was added");
  });

  await t.test("a password of the service's own is not sent to the host that is named", async (t) => {
    process.env.PGPASSWORD = SECRET;
    onEnd(t, async () => void delete process.env.PGPASSWORD);
    const { url, passwords } = await passwordCollector(t);
    assert.deepEqual(code(await add("eu", url)), [502, "database_unreachable"]);
    assert.ok(passwords.length > 0);
    for (const password of passwords) assert.doesNotMatch(password, new RegExp(SECRET));
  });

  const headers = { "idempotency-key": "add-eu" };
  const added = await add("eu", eu, {}, headers);
  assert.equal(added.status, 201, added.text);
  assert.deepEqual(Object.keys(added.body.data), ["name", "environments", "reachable", "bytes"]);
  assert.deepEqual((await add("eu", eu, {}, headers)).body, added.body, "the repeated request gets the same answer");
  assert.deepEqual(code(await add("eu", us)), [409, "database_exists"]);
  assert.deepEqual(code(await add("us", eu)), [409, "database_taken"]);
  const [entry] = (await rest("GET", "/audit-log?action=database.added")).body.data;
  assert.deepEqual([entry.target, entry.environment, entry.details], [{ kind: "database", id: "eu", name: "eu" }, null, {}]);

  await t.test("an environment is placed on a database by its name, a branch nowhere else", async () => {
    const create = (body: object) => rest("POST", "/environments", { body });
    assert.deepEqual(code(await create({ name: "staging", database: "asia" })), [404, "database_not_found"]);
    assert.deepEqual(code(await create({ name: "pr-1", kind: "branch", database: "eu" })), [400, "request_invalid"]);
    assert.equal((await create({ name: "pr-1", kind: "branch", database: "directory" })).body.data.database, "directory");
    assert.equal((await create({ name: "staging" })).body.data.database, "directory");
    assert.equal((await rest("GET", "/environments/staging")).body.data.database, "directory");
    const placed = (await create({ name: "payments", database: "eu" })).body.data;
    assert.equal(placed.database, "eu");
    const { key } = placed.keys.find(({ kind }: { kind: string }) => kind === "event");
    assert.equal((await service.send({ name: "a/b", data: {} }, { key })).status, 200);
    const count = (url: string) =>
      inDatabase(url, async (client) => (await client.query("SELECT count(*)::integer AS n FROM events")).rows[0].n as number);
    assert.deepEqual([await count(databaseUrl), await count(eu)], [0, 1], "its events are there");
    const listed = (await sized()).map(({ bytes: size, ...shown }) => ({ ...shown, hasSize: size > 1_000_000 }));
    assert.deepEqual(listed, [
      { name: "directory", environments: ["production", "pr-1", "staging"], reachable: true, hasSize: true },
      { name: "eu", environments: ["payments"], reachable: true, hasSize: true },
    ]);
    assert.deepEqual((await rest("GET", "/databases?limit=1")).body.data.length, 1);
  });

  await t.test("a service does not start on a database that was added", async () => {
    await assert.rejects(
      () => startTestService(t, { hasDefaultConnections: true, databaseUrl: eu }),
      /this database was added to an installation/,
    );
  });

  const stored = await inDatabase(databaseUrl, async (client) => {
    const rows: unknown[] = [];
    for (const table of ["databases", "audit_log", "idempotency_keys"]) rows.push((await client.query(`SELECT * FROM ${table}`)).rows);
    return JSON.stringify(rows);
  });
  assert.doesNotMatch(stored, new RegExp(SECRET));
  assert.doesNotMatch(said.join(""), new RegExp(SECRET));
});

nodeTest("an embedded store is one database, and takes no other", async (t) => {
  const service = await startTestService(t);
  const [only, ...others] = (await service.rest("GET", "/databases")).body.data;
  assert.deepEqual([only.name, only.environments, only.reachable, others], ["directory", ["production"], true, []]);
  const url = "postgres://u@127.0.0.1:1/x";
  assert.deepEqual(code(await service.rest("POST", "/databases", { body: { name: "eu", url } })), [501, "databases_unsupported"]);
  assert.equal((await service.rest("POST", "/environments", { body: { name: "a", database: "directory" } })).status, 201);
  assert.deepEqual(code(await service.rest("POST", "/environments", { body: { name: "b", database: "eu" } })), [404, "database_not_found"]);
});

interface ShownDatabase {
  name: string;
  bytes: number;
}

/** A list does not wait long for the size of a database. */
function databasesWithSizes(rest: TestService["rest"]): Promise<ShownDatabase[]> {
  return until("the sizes", async () => {
    const { data } = (await rest("GET", "/databases")).body as { data: ShownDatabase[] };
    return data.every(({ bytes }) => bytes !== null) ? data : undefined;
  });
}

function withSecret(url: string): string {
  const secret = new URL(url);
  secret.searchParams.set("fallback_application_name", SECRET);
  return secret.href;
}

/** The same database under another name of its host. */
function elsewhere(url: string): string {
  const other = new URL(url);
  other.searchParams.set("host", "localhost");
  return other.href.replace("postgres:", "postgresql:");
}

function withFile(parameter: string, file: string): string {
  return `postgres://u:${SECRET}@127.0.0.1:1/x?${parameter}=${encodeURIComponent(file)}`;
}

/** A server that asks for passwords in plain text, and hangs up. */
async function passwordCollector(t: TestContext): Promise<{ url: string; passwords: string[] }> {
  const passwords: string[] = [];
  const server = createServer((socket) => {
    socket.on("error", () => undefined);
    socket.once("data", () => {
      // AuthenticationCleartextPassword.
      socket.write(Uint8Array.of(0x52, 0, 0, 0, 8, 0, 0, 0, 3));
      socket.once("data", (message) => {
        passwords.push(message.subarray(5).toString());
        socket.destroy();
      });
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onEnd(t, () => new Promise<void>((resolve) => void server.close(() => resolve())));
  return { url: `postgres://u@127.0.0.1:${(server.address() as AddressInfo).port}/x`, passwords };
}

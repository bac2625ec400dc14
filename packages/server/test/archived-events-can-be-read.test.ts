/** Events that left with their partition are read from the archive by name and time, by those who may read the environment. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { appendAt, DAY_MS, openArchivedStore } from "./support/archive-scene.ts";
import { migratedDatabase, whyNoPostgres } from "./support/postgres.ts";
import { until } from "./support/runs.ts";
import { BUCKET, startS3 } from "./support/s3-server.ts";
import { startTestService, type TestService } from "./support/service.ts";

const skip = whyNoPostgres() ?? false;
const RETENTION = ["--event-retention", "30d", "--run-retention", "30d"];

interface Listed {
  id: string;
  name: string;
  environment: string;
  receivedAt: string;
  data: { n: number };
}

/** Page by page. */
async function listAll(service: TestService, query: string, headers: Record<string, string> = {}): Promise<Listed[]> {
  const found: Listed[] = [];
  for (let next: string | null = ""; next !== null; ) {
    const path = `/events?archived=true&${query}${next === "" ? "" : `&cursor=${next}`}`;
    const { status, body, text } = await service.rest("GET", path, { headers });
    assert.equal(status, 200, text);
    found.push(...body.data);
    next = body.page.next;
  }
  return found;
}

test("archived events are listed by name and time, newest first, in pages, in their environment only", { skip }, async (t) => {
  const databaseUrl = await migratedDatabase(t);
  let aheadMs = 0;
  const service = await startTestService(t, {
    databaseUrl,
    flags: [...RETENTION, "--archive", `s3://${BUCKET}/inlet`],
    storageVariables: await startS3(t),
    now: () => Date.now() + aheadMs,
    sweepEveryMs: 1_000,
  });
  assert.equal((await service.rest("POST", "/environments", { body: { name: "feature/x", kind: "branch" } })).status, 201);
  const store = await openArchivedStore(t, databaseUrl);
  const environments = await store.environmentList();
  const [production, branch] = ["production", "feature/x"].map((name) => environments.find((each) => each.name === name));
  assert.ok(production && branch);
  const start = Math.floor(Date.now() / DAY_MS) * DAY_MS - 5 * DAY_MS;
  const numbers = [...Array(9).keys()];
  // Three a day, of two names.
  for (const n of numbers)
    await appendAt(store, production, start + Math.floor(n / 3) * DAY_MS + n, [
      { name: n % 2 === 0 ? "shop/even" : "shop/odd", data: `{"n":${n},"exact":1.50}` },
    ]);
  await appendAt(store, branch, start, [{ name: "shop/even", data: '{"n":100}' }]);
  // A shorter rule removes single rows, which are not archived.
  await appendAt(store, production, start, [{ name: "shop/short", data: '{"n":101}' }]);
  assert.equal((await service.rest("PUT", "/event-types/shop%2Fshort", { body: { retention: "1d" } })).status, 200);
  const stored = async () => (await service.rest("GET", "/events?limit=100")).body.data.length as number;
  await until("the shorter rule", async () => (await stored()) === numbers.length || undefined);
  assert.deepEqual(await listAll(service, "limit=100"), [], "nothing is old enough");
  aheadMs = 60 * DAY_MS;
  await until("all are archived", async () => (await listAll(service, "limit=100")).length === numbers.length || undefined);
  await until("all are dropped", async () => (await stored()) === 0 || undefined);

  const namesOf = (events: readonly Listed[]) => events.map(({ data }) => data.n);
  assert.deepEqual(namesOf(await listAll(service, "limit=2")), [...numbers].reverse());
  assert.deepEqual(namesOf(await listAll(service, "name=shop/odd&limit=1")), [7, 5, 3, 1]);
  assert.deepEqual(namesOf(await listAll(service, "name=shop/e*")), [8, 6, 4, 2, 0]);
  const [from, to] = [start + 2, start + DAY_MS + 4];
  assert.deepEqual(namesOf(await listAll(service, `from=${from}&to=${to}`)), [3, 2]);
  const { text } = await service.rest("GET", "/events?archived=true&limit=1");
  assert.match(text, /"data":\{"n":8,"exact":1.50\}/, "numbers stay as they were written");
  assert.match(text, /"environment":"production","source":\{"kind":"key"/);
  assert.deepEqual(namesOf(await listAll(service, "", { "x-service-env": "feature/x" })), [100]);

  for (const filter of ["q=a", "source=key", "id=a", "matched=false", "internal=false", "where=event.data.n==1"]) {
    const { status, body } = await service.rest("GET", `/events?archived=true&${filter}`);
    assert.deepEqual([status, body.code], [400, "request_invalid"], filter);
    assert.match(body.error, /cannot be used with archived=true/);
  }
  const made = await service.rest("POST", "/keys", { body: { name: "theirs", kind: "api", role: "viewer", environments: ["feature/x"] } });
  assert.equal(made.status, 201, made.text);
  const theirs = { authorization: `Bearer ${made.body.data.key}` };
  const ofProduction = { ...theirs, "x-service-env": "production" };
  assert.equal((await service.rest("GET", "/events?archived=true", { headers: ofProduction })).status, 403);
  for (const headers of [theirs, { ...theirs, "x-service-env": "feature/x" }])
    assert.deepEqual(namesOf(await listAll(service, "", headers)), [100]);
  assert.equal((await service.rest("GET", "/events?archived=true", { headers: { authorization: "Bearer nobody" } })).status, 401);
});

test("without an archive, archived events are refused, and an archive without PostgreSQL is too", async (t) => {
  const service = await startTestService(t);
  const { status, body } = await service.rest("GET", "/events?archived=true");
  assert.deepEqual([status, body.code], [400, "request_invalid"]);
  assert.match(body.error, /without --archive/);
  await assert.rejects(startTestService(t, { flags: ["--archive", "file:///tmp/never-made"] }), /--archive needs --database-url/);
});

/**
 * With `--database-read-url`, lists, searches and figures are answered by a streaming standby, and decisions never are. What was answered before
 * is in every list, however far the standby is behind, on whichever node; and while it is away, silent or not ours, the primary answers.
 */

import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import type { EventId, FunctionNo, JobId, RunId, WebhookId, WebhookRequestId } from "@inlet/protocol";
import { makeEnvironment, sampleBatch, sampleEvent } from "../src/store/conformance/samples.ts";
import { type Environment, STORE_VIEWS, type Store, type StoreViews } from "../src/store/contract/index.ts";
import { PostgresDatabase } from "../src/store/postgres/database.ts";
import { Replica, type ReplicaStatus } from "../src/store/postgres/replica/replica.ts";
import { poll } from "./support/app.ts";
import { type CuttingProxy, cuttingProxy } from "./support/cutting-proxy.ts";
import { onEnd } from "./support/on-end.ts";
import { freshDatabase, inDatabase, openPatientStore, whyNoPostgres } from "./support/postgres.ts";
import { type PostgresServer, startPostgres } from "./support/postgres-server.ts";
import { startStandby } from "./support/postgres-standby.ts";
import { API_KEY, call, startTestService, type TestService } from "./support/service.ts";

const skip = whyNoPostgres() ?? false;
/** More than the reads that the metrics themselves make. */
const LISTS = 10;
const HOOKS = { onFault: () => undefined, onRecovery: () => undefined };
/** Statements that read what people look at. The loop that examines the replica has none of these. */
const SHOWN = /FROM \(?\s*(SELECT .* FROM )?(events|event_names|runs|jobs|approvals|audit_log|webhook_requests|saved_filters|queue)\b/is;

let primary: PostgresServer;
let standby: PostgresServer;
let made = 0;

before(async () => {
  if (skip) return;
  primary = await startPostgres({ fsync: false });
  standby = await startStandby(primary);
});
after(async () => {
  await standby?.remove();
  await primary?.remove();
});

/** The addresses of a new database and of its replica. */
async function newDatabase(): Promise<{ url: string; readUrl: string }> {
  const name = `inlet_${made++}`;
  await inDatabase(primary.url, (client) => client.query(`CREATE DATABASE ${name}`));
  return { url: addressOf(primary, name), readUrl: addressOf(standby, name) };
}

function addressOf(server: PostgresServer, database: string): string {
  const address = new URL(server.url);
  address.pathname = `/${database}`;
  return address.href;
}

const onStandby = (text: string) => inDatabase(standby.url, (client) => client.query(text));

test("each view is answered by the replica, and the store itself never asks it", { skip }, async (t) => {
  const { url, readUrl } = await newDatabase();
  const proxy = await cuttingProxy(t, readUrl);
  const store = await openPatientStore({ url, readUrl: proxy.url, ...HOOKS });
  onEnd(t, () => store.stop());
  const environment = await makeEnvironment(store);
  const event = sampleEvent();
  await store.eventAppend(sampleBatch(environment, [event]));
  await isUsed(store);
  const shown = proxy.count(SHOWN);
  const params = paramsOf(environment, event.id);
  for (const name of STORE_VIEWS) {
    const answer = await ask(store, name, params);
    const seen = await poll(async () => {
      const { replica, primary: before } = reads(store);
      const result = await ask(store.storeViews, name, params);
      // Somebody may commit at any time, and the replica be a little late: then the primary answers, and the view is asked again.
      return reads(store).replica > replica && reads(store).primary === before ? { result } : null;
    }, `a response of the replica to ${name}`);
    assert.deepEqual(seen.result, answer, name);
  }
  assert.ok(shown() > 0, "the proxy sees what the replica is asked");
  const before = shown();
  for (const name of STORE_VIEWS) await ask(store, name, params);
  assert.equal(shown(), before);
});

test("only what presents something to people asks for views", () => {
  const source = fileURLToPath(new URL("../src/", import.meta.url));
  const files = globSync("**/*.ts", { cwd: source }).filter((file) => !/\.test\.ts$/.test(file));
  const asking = files.filter((file) => /\bstoreViews\b|\bStoreViews\b/.test(readFileSync(`${source}${file}`, "utf8")));
  const folders = new Set(asking.map((file) => file.split("/")[0]));
  assert.deepEqual([...folders].sort(), ["api", "observe", "service", "store"]);
});

test("what was answered is in every list on every node, however far the replica is behind", { skip }, async (t) => {
  const { url, readUrl } = await newDatabase();
  const flags = ["--database-read-url", readUrl];
  const [writer, reader] = [
    await startTestService(t, { hasDefaultConnections: true, databaseUrl: url, flags }),
    await startTestService(t, { hasDefaultConnections: true, databaseUrl: url, flags }),
  ];
  await showsState(reader, "used");
  const sent = async (n: number) => (await writer.send({ name: "shop/order.created", data: { n } })).body.ids[0] as string;
  const ids: string[] = [await sent(0)];
  await answersLists(reader, "directory", async () => assert.deepEqual(await listed(reader), ids));

  await onStandby("SELECT pg_wal_replay_pause()");
  onEnd(t, () => onStandby("SELECT pg_wal_replay_resume()"));
  for (let n = 1; n < 6; n++) {
    ids.unshift(await sent(n));
    assert.deepEqual(await listed(reader), ids);
  }
  assert.deepEqual(await pagesOf([writer, reader]), ids);
  assert.equal((await writer.rest("PUT", "/saved-filters", { body: { list: "events", name: "mine", search: {} } })).status, 200);
  assert.equal((await reader.rest("GET", "/saved-filters?list=events")).body.data.length, 1);
  await showsState(reader, "behind");
  await poll(async () => ((await metric(reader, "inlet_replica_lag_seconds")) ?? 0) > 0 || null, "a lag");
  assert.equal(await metric(reader, "inlet_replica_used"), 0);

  await onStandby("SELECT pg_wal_replay_resume()");
  await showsState(reader, "used");
  assert.deepEqual(await pagesOf([reader, writer]), ids);
});

test("a database that was added has a replica of its own, and no other server is taken for it", { skip }, async (t) => {
  const [directory, second] = [await newDatabase(), await newDatabase()];
  const service = await startTestService(t, { hasDefaultConnections: true, databaseUrl: directory.url });
  const refusedFor = async (readUrl: string) => {
    const { status, body } = await service.rest("POST", "/databases", { body: { name: "second", url: second.url, readUrl } });
    assert.deepEqual([status, body.code], [502, "database_unreachable"]);
    return (body.error as string).replace("The database of the read URL cannot be used: ", "");
  };
  assert.equal(await refusedFor(await freshDatabase(t)), "it is another server and no standby.");
  assert.match(await refusedFor(directory.readUrl), /^its database is "inlet_\d+" and not "inlet_\d+"\.$/);
  const promoted = await startStandby(primary);
  onEnd(t, () => promoted.remove());
  await inDatabase(promoted.url, (client) => client.query("SELECT pg_promote()"));
  const copy = addressOf(promoted, new URL(second.url).pathname.slice(1));
  assert.equal(await refusedFor(copy), "it is a copy, not a replica: name a streaming standby of this database.");
  assert.equal((await service.rest("GET", "/databases")).body.data.length, 1, "nothing is added");
  assert.equal((await service.rest("POST", "/databases", { body: { name: "second", ...second } })).status, 201);
  assert.equal((await service.rest("POST", "/environments", { body: { name: "far", database: "second" } })).status, 201);
  const headers = { "x-service-env": "far" };
  const { data: key } = (await service.rest("POST", "/keys", { body: { kind: "event", name: "far" }, headers })).body;
  const { ids } = (await service.send({ name: "shop/order.created", data: {} }, { key: key.key })).body;
  await answersLists(service, "second", async () => assert.deepEqual(await listed(service, headers), ids));
  assert.equal(await metric(service, "inlet_replica_used"), null, "the directory has none");
});

test("a replica that is silent, and one that is killed, is left out until it is back", { skip }, async (t) => {
  const { url, readUrl } = await newDatabase();
  const proxy = await cuttingProxy(t, readUrl);
  const service = await startTestService(t, { hasDefaultConnections: true, databaseUrl: url, flags: ["--database-read-url", proxy.url] });
  await showsState(service, "used");
  const { body } = await service.send({ name: "shop/order.created", data: {} });
  await silence(proxy, async () => {
    assert.deepEqual(await listed(service), body.ids);
    await showsState(service, "unreachable");
    assert.equal(await metric(service, "inlet_replica_reachable"), 0);
    const shown = proxy.count(SHOWN);
    for (let n = 0; n < 5; n++) assert.deepEqual(await listed(service), body.ids);
    assert.equal(shown(), 0, "nobody waits for it again");
  });
  await showsState(service, "used");
  await standby.stop("immediate");
  assert.deepEqual(await listed(service), body.ids);
  await showsState(service, "unreachable");
  await standby.start();
  await showsState(service, "used");
  assert.deepEqual(await listed(service), body.ids);
});

test("a read that the replica cancels is answered by the primary", { skip }, async (t) => {
  const { url, readUrl } = await newDatabase();
  await (await openPatientStore({ url, ...HOOKS })).stop();
  const database = new PostgresDatabase({ url, connectionsMax: 4, listenUrl: null, ...HOOKS });
  onEnd(t, () => database.stop());
  await database.query("CREATE TABLE looked_at AS SELECT 1 AS n");
  const replica = new Replica({ primary: database, url: readUrl, connectionsMax: 4, node: "none", onReplica: () => undefined });
  onEnd(t, () => replica.stop());
  replica.start();
  // On the replica it takes too long for this test; on the primary no time.
  const slow = "SELECT pg_is_in_recovery() AS replayed, CASE WHEN pg_is_in_recovery() THEN pg_sleep(600) IS NULL END FROM looked_at";
  const running = "SELECT pid FROM pg_stat_activity WHERE query LIKE '%looked_at%' AND state = 'active' AND pid <> pg_backend_pid()";
  const begun = () =>
    poll(async () => {
      let isOver = false;
      const answer = replica.read<{ replayed: boolean }>(slow).finally(() => (isOver = true));
      // The primary answers if the replica is late at this moment: then another try.
      const isRunning = await poll(async () => isOver || (await onStandby(running)).rowCount === 1 || null, "the read");
      return isRunning && !isOver ? { answer } : null;
    }, "a read on the replica");
  const cancelled = await begun();
  await onStandby(`SELECT pg_cancel_backend(pid) FROM (${running}) AS r`);
  assert.equal((await cancelled.answer)[0]?.replayed, false, "cancelled by its operator");
  const conflicting = await begun();
  await database.query("ALTER TABLE looked_at ADD COLUMN more integer");
  assert.equal((await conflicting.answer)[0]?.replayed, false, "in conflict with the replay");
});

test("only a standby of this very database is used, and only as long as it is one", { skip }, async (t) => {
  const { url, readUrl } = await newDatabase();
  /** A standby that is a little late says other things first: what counts is that it comes to this state. */
  const reasonFor = async (readFrom: string, state: ReplicaStatus["state"]) => {
    const heard: ReplicaStatus[] = [];
    const store = await openPatientStore({ url, readUrl: readFrom, ...HOOKS, onReplica: (status) => heard.push(status) });
    const found = await poll(async () => heard.find((status) => status.state === state) ?? null, `a replica that is ${state}`);
    await store.stop();
    return found.reason;
  };
  assert.equal(await reasonFor(await freshDatabase(t), "refused"), "it is another server and no standby");
  const name = new URL(url).pathname.slice(1);
  assert.equal(await reasonFor(addressOf(standby, "postgres"), "refused"), `its database is "postgres" and not "${name}"`);
  assert.equal(await reasonFor(readUrl, "used"), null);
  assert.equal(await reasonFor(url, "used"), null, "the address of managed services leads to the primary while they have no replica");

  const promoted = await startStandby(primary);
  onEnd(t, () => promoted.remove());
  const database = new PostgresDatabase({ url, connectionsMax: 4, listenUrl: null, ...HOOKS });
  onEnd(t, () => database.stop());
  await database.query("CREATE TABLE written_later (n integer)");
  const heard: ReplicaStatus[] = [];
  const followed = { primary: database, url: addressOf(promoted, name), connectionsMax: 4, node: "none" };
  const replica = new Replica({ ...followed, onReplica: (status) => heard.push(status) });
  onEnd(t, () => replica.stop());
  replica.start();
  await poll(async () => heard.some(({ state }) => state === "used") || null, "the replica in use");
  // It is promoted while it is in use, and its log grows longer than that of the primary.
  const filler = "SELECT count(pg_logical_emit_message(false, 'filler', repeat('x', 1000))) FROM generate_series(1, 20000)";
  await inDatabase(promoted.url, (client) => client.query("SELECT pg_promote()"));
  await inDatabase(promoted.url, (client) => client.query(filler));
  await database.query("INSERT INTO written_later VALUES (1)");
  assert.equal((await replica.read("SELECT n FROM written_later")).length, 1);
  await poll(async () => (replica.report().state === "refused" ? true : null), "the refusal of what was promoted");
  assert.equal(replica.report().reason, "it was promoted, and no longer follows the primary");
  const store = await openPatientStore({ url: addressOf(promoted, name), readUrl, ...HOOKS });
  onEnd(t, () => store.stop());
  // The log of the old primary grows longer than that of the new one.
  for (let n = 0; n < 2; n++) await inDatabase(primary.url, (client) => client.query(filler));
  await inDatabase(primary.url, (client) => client.query("CREATE TABLE IF NOT EXISTS written AS SELECT 1 AS n"));
  const refused = await poll(async () => (store.storeReplica()?.state === "refused" ? store.storeReplica() : null), "the refusal");
  assert.equal(refused?.reason, "it lacks what this node wrote: it follows another primary");
});

async function isUsed(store: Store): Promise<void> {
  await poll(async () => (store.storeReplica()?.state === "used" ? true : null), "a replica in use");
}

function reads(store: Store): { replica: number; primary: number } {
  return store.storeReplica()?.reads ?? assert.fail("no replica");
}

type ViewParams = { [Name in keyof StoreViews]: Parameters<StoreViews[Name]> };

function ask(views: StoreViews, name: keyof StoreViews, params: ViewParams): Promise<unknown> {
  const view = views[name] as (...given: unknown[]) => Promise<unknown>;
  return view(...params[name]);
}

function paramsOf({ id: environmentId }: Environment, id: EventId): ViewParams {
  const of = { environmentId };
  const span = { from: 0, to: 3_600_000, intervalMs: 60_000 };
  const webhookId = "webhook_1" as WebhookId;
  return {
    approvalCountOpen: [{ ...of, now: 1, limit: 10 }],
    approvalList: [{ ...of, now: 1, limit: 10 }],
    auditList: [{ limit: 10 }],
    cancellationList: [of],
    eventFollow: [{ ...of, after: 0, limit: 10 }],
    eventGet: [{ ...of, id }],
    eventList: [{ ...of, limit: 10, name: "shop/*" }],
    eventTypeGet: [{ ...of, name: "shop/order.created", since: 0 }],
    eventTypeList: [{ ...of, limit: 10, since: 0 }],
    eventTypeUnseenList: [{ ...of, scopeId: environmentId, limit: 10 }],
    failureStateList: [of],
    jobList: [{ ...of, limit: 10 }],
    orderHoldList: [{ ...of, limit: 10 }],
    queueDepths: [],
    queueFunctionDepths: [],
    realtimeRead: [{ ...of, cursors: [{ channel: "a", after: 0 }], until: 10, publishedAfter: 0, limit: 10 }],
    reconciliationList: [{ ...of, webhookId, limit: 10 }],
    runCountByEvent: [{ ...of, eventIds: [id] }],
    runCountByJob: [{ ...of, jobId: "job_1" as JobId }],
    runFailures: [{ ...of, limit: 10, from: 0, until: 3_600_000 }],
    runGet: [{ ...of, id: "run_1" as RunId }],
    runList: [{ ...of, limit: 10 }],
    runTimings: [{ ...of, functionNos: [1 as FunctionNo], from: 0, to: 3_600_000, limit: 10 }],
    savedFilterList: [of],
    trafficList: [{ ...of, ...span }],
    usageList: [{ environmentIds: [environmentId], kind: "environment", ...span }],
    waitCountByFunction: [{ ...of, eventName: "shop/order.created", limit: 10 }],
    webhookRequestCounts: [{ ...of, webhookId, ...span }],
    webhookRequestFollow: [{ ...of, webhookId, after: 0, limit: 10 }],
    webhookRequestGet: [{ ...of, webhookId, id: "req_1" as WebhookRequestId }],
    webhookRequestList: [{ ...of, webhookId, limit: 10 }],
    webhookRequestOutcomes: [{ ...of, webhookIds: [webhookId], limit: 10 }],
    webhookVersionList: [{ ...of, id: webhookId }],
  };
}

/** Waits until the replica of this database has answered lists, each of which the work makes sure of. */
async function answersLists(service: TestService, database: string, work: () => Promise<void>): Promise<void> {
  await poll(async () => {
    const before = await readsOf(service, database);
    for (let n = 0; n < LISTS; n++) await work();
    return (await readsOf(service, database)) >= before + LISTS ? true : null;
  }, `lists from the replica of ${database}`);
}

async function listed(service: TestService, headers: Record<string, string> = {}): Promise<string[]> {
  const { status, body, text } = await service.rest("GET", "/events?limit=100", { headers });
  assert.equal(status, 200, text);
  return (body.data as { id: string }[]).map(({ id }) => id);
}

/** All events, two per page, each page from the next node. */
async function pagesOf(services: readonly TestService[]): Promise<string[]> {
  const ids: string[] = [];
  let cursor = "";
  for (let page = 0; page < 20; page++) {
    const service = services[page % services.length] as TestService;
    const { body } = await service.rest("GET", `/events?limit=2${cursor && `&cursor=${encodeURIComponent(cursor)}`}`);
    ids.push(...(body.data as { id: string }[]).map(({ id }) => id));
    if (body.page.next === null) return ids;
    cursor = body.page.next;
  }
  return assert.fail("the pages do not end");
}

/** Nothing that is sent through it gets through while the work is done. */
async function silence(proxy: CuttingProxy, work: () => Promise<void>): Promise<void> {
  proxy.holdAll();
  proxy.holdEach(/./);
  await work();
  proxy.holdEach(/^\b$/);
}

async function showsState(service: TestService, state: string): Promise<void> {
  await poll(async () => {
    const { body } = await call(`${service.url}/ready`);
    return body?.replicas?.[0]?.state === state ? true : null;
  }, `a replica that is ${state}`);
}

async function metric(service: TestService, name: string, labels = 'database="directory"'): Promise<number | null> {
  const { text } = await call(`${service.url}/metrics`, { headers: { authorization: `Bearer ${API_KEY}` } });
  const line = text.split("\n").find((one) => one.startsWith(`${name}{${labels}}`));
  return line === undefined ? null : Number(line.slice(line.lastIndexOf(" ") + 1));
}

async function readsOf(service: TestService, database: string): Promise<number> {
  return (await metric(service, "inlet_replica_reads_total", `database="${database}",server="replica"`)) ?? 0;
}

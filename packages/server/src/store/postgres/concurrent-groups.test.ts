/**
 * Groups of one environment may be in progress on several nodes: none waits for another, and all keep to the rules of duplicates. On one node,
 * a group begins while the one before it is committed, and all are written in order.
 */

import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { cuttingProxy } from "../../../test/support/cutting-proxy.ts";
import { inDatabase, migratedDatabase, OWN_LOCKS, whyNoPostgres } from "../../../test/support/postgres.ts";
import { beginOne, makeScene, type Scene, sampleLease, sampleRun } from "../conformance/run-samples.ts";
import { sampleBatch, sampleEvent } from "../conformance/samples.ts";
import type { NewWait, Store } from "../contract/index.ts";
import { boundedKey } from "./bounded-key.ts";
import { markLock, nameLock } from "./locks.ts";
import { openPostgresStore } from "./postgres-store.ts";

const skip = whyNoPostgres() ?? false;
const HOUR_MS = 3_600_000;
/** No statement gives up a lock that the test holds. */
const TIMEOUT_MS = 120_000;
const SENDERS = 40;
const ROUNDS = 5;

async function open(t: TestContext): Promise<Scene & { nodes: [Store, Store]; url: string }> {
  const url = await migratedDatabase(t);
  const openNode = async () => {
    const store = await openPostgresStore({ url, timeoutMs: TIMEOUT_MS, onFault: () => undefined, onRecovery: () => undefined });
    t.after(() => store.stop());
    return store;
  };
  const nodes: [Store, Store] = [await openNode(), await openNode()];
  return { ...(await makeScene(nodes[0])), nodes, url };
}

async function storedCount(url: string): Promise<number> {
  const { rows } = await inDatabase(url, (client) => client.query<{ count: string }>("SELECT count(*) FROM events"));
  return Number(rows[0]?.count);
}

test("an event is stored while the group before it is committed", { skip }, async (t) => {
  const url = await migratedDatabase(t);
  const proxy = await cuttingProxy(t, url);
  const store = await openPostgresStore({ url: proxy.url, timeoutMs: TIMEOUT_MS, onFault: () => undefined, onRecovery: () => undefined });
  t.after(() => store.stop());
  const { environment } = await makeScene(store);
  const append = () => store.eventAppend(sampleBatch(environment, [sampleEvent()]));
  await append();
  const isHeld = proxy.hold({ statement: /^COMMIT/, when: "before", following: /append_events/ });
  const held = append();
  await isHeld;
  await append();
  assert.equal(await storedCount(url), 2, "the other one is not committed");
  proxy.endAll();
  await Promise.allSettled([held]);
});

test("events are numbered in the order submitted, whichever groups they are in", { skip }, async (t) => {
  const { store, environment, url } = await open(t);
  // A group has a thousand at most.
  const batches = Array.from({ length: 25 }, () => Array.from({ length: 100 }, () => sampleEvent()));
  await Promise.all(batches.map((events) => store.eventAppend(sampleBatch(environment, events))));
  const { rows } = await inDatabase(url, (client) => client.query<{ event_id: string }>("SELECT event_id FROM events ORDER BY sequence"));
  assert.deepEqual(
    rows.map(({ event_id }) => event_id),
    batches.flat().map(({ id }) => id),
  );
});

test("an event is stored while another node's group is held up", { skip }, async (t) => {
  const { nodes, environment, url } = await open(t);
  const append = (name: string, node: Store) => node.eventAppend(sampleBatch(environment, [sampleEvent({ name })]));
  await Promise.all([append("held", nodes[0]), append("free", nodes[1])]);
  let held: ReturnType<typeof append> | null = null;
  await inDatabase(url, async (client) => {
    await client.query("SELECT pg_advisory_lock($1)", [nameLock(environment.id, "held").toString()]);
    held = append("held", nodes[0]);
    const isWaiting = `SELECT FROM ${OWN_LOCKS} WHERE locktype = 'advisory' AND NOT granted`;
    const deadline = Date.now() + 60_000;
    while ((await client.query(isWaiting)).rowCount === 0) assert.ok(Date.now() < deadline, "it waits for the lock of its name");
    assert.equal((await append("free", nodes[1])).ids.length, 1);
    assert.equal(await storedCount(url), 3, "the other one still waits");
  });
  await held;
  assert.equal(await storedCount(url), 4);
});

test("an event cancels no run that a later event starts, however long it takes to find what it cancels", { skip }, async (t) => {
  const { url, nodes, ...scene } = await open(t);
  const { environment, functions } = scene;
  const cancel: NewWait = {
    kind: "cancel",
    eventName: "stop",
    expression: null,
    match: null,
    stepId: null,
    since: 0,
    expiresAt: 90_000,
  };
  const begun = await beginOne(scene, { cancels: [cancel] });
  const append = (node: Store, event: Parameters<typeof sampleEvent>[0], batch: Parameters<typeof sampleBatch>[2] = {}) =>
    node.eventAppend(sampleBatch(environment, [sampleEvent(event)], { lease: sampleLease(), ...batch }));
  let stopping: ReturnType<typeof append> | null = null;
  await inDatabase(url, async (client) => {
    // It is stored, and waits for this table before it looks for runs to cancel.
    await client.query("BEGIN");
    await client.query("LOCK TABLE resumptions IN ACCESS EXCLUSIVE MODE");
    stopping = append(nodes[0], { name: "stop" });
    const isWaiting = `SELECT FROM ${OWN_LOCKS} WHERE relation = 'resumptions'::regclass AND NOT granted`;
    const deadline = Date.now() + 60_000;
    while ((await client.query(isWaiting)).rowCount === 0) assert.ok(Date.now() < deadline, "it waits for the table");
    // In another hour: figures of an hour are rows of a process, which the nodes of this test share.
    await append(nodes[1], { runs: [sampleRun(functions[0], { cancels: [cancel] })] }, { receivedAt: 2 * HOUR_MS });
    await client.query("COMMIT");
  });
  const { leased } = (await stopping) as unknown as Awaited<ReturnType<typeof append>>;
  assert.deepEqual(
    leased.map(({ runNo, kind }) => [runNo, kind]),
    [[begun.runNo, "cancel"]],
  );
});

test("starts are decided in the order submitted, however long one is held up", { skip }, async (t) => {
  const { url, store, environment, functions } = await open(t);
  const decided: string[] = [];
  async function start(name: string) {
    const [functionNo] = functions;
    const event = sampleEvent({ starts: [{ functionNo, dueAt: 1_000 }] });
    const [entry] = (await store.eventAppend(sampleBatch(environment, [event], { lease: sampleLease() }))).leased;
    assert.ok(entry);
    return () =>
      store.functionStart({
        environmentId: environment.id,
        entry,
        functionNo,
        marks: [{ kind: "rate", key: name }],
        now: 2_000,
        lease: sampleLease(),
        decide() {
          decided.push(name);
          return {};
        },
      });
  }
  const [first, second, third] = [await start("first"), await start("second"), await start("third")];
  let all: Promise<unknown> | null = null;
  await inDatabase(url, async (client) => {
    const lock = markLock(environment.id, functions[0], { kind: "rate", key: boundedKey("first") });
    await client.query("SELECT pg_advisory_lock($1)", [lock.toString()]);
    const held = first();
    const isWaiting = `SELECT FROM ${OWN_LOCKS} WHERE locktype = 'advisory' AND NOT granted`;
    const deadline = Date.now() + 60_000;
    while ((await client.query(isWaiting)).rowCount === 0) assert.ok(Date.now() < deadline, "it waits for the lock of its mark");
    all = Promise.all([held, second(), third()]);
  });
  await all;
  assert.deepEqual(decided, ["first", "second", "third"]);
});

test("events with one dedup id, or with one id of their sender, are stored once, whichever groups they are in", { skip }, async (t) => {
  const { nodes, environment, url } = await open(t);
  let duplicates = 0;
  const again = sampleEvent().id;
  async function send(sender: number): Promise<void> {
    for (let round = 0; round < ROUNDS; round++) {
      const isKeyed = (sender + round) % 2 === 0;
      const event = sampleEvent(isKeyed ? { dedupId: `key ${sender % 4}` } : { id: again });
      const result = await (nodes[sender % 2] as Store).eventAppend(
        sampleBatch(environment, [event, sampleEvent()], { idsFromSender: !isKeyed }),
      );
      duplicates += result.duplicates;
    }
  }
  await Promise.all(Array.from({ length: SENDERS }, (_, sender) => send(sender)));
  const batches = SENDERS * ROUNDS;
  assert.equal(await storedCount(url), batches + 4 + 1);
  assert.equal(duplicates, batches - 4 - 1);
});

test("an event is no duplicate of itself, although its connection broke while it was committed", { skip }, async (t) => {
  const url = await migratedDatabase(t);
  const proxy = await cuttingProxy(t, url);
  const store = await openPostgresStore({ url: proxy.url, timeoutMs: TIMEOUT_MS, onFault: () => undefined, onRecovery: () => undefined });
  t.after(() => store.stop());
  const { environment } = await makeScene(store);
  const event = sampleEvent({ dedupId: "key" });
  let appended: ReturnType<Store["eventAppend"]> | null = null;
  await inDatabase(url, async (client) => {
    await client.query(`
      CREATE FUNCTION hold_commit() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN PERFORM pg_advisory_xact_lock_shared(1); RETURN NULL; END $$;
      CREATE CONSTRAINT TRIGGER hold_commit AFTER INSERT ON dedup_keys DEFERRABLE INITIALLY DEFERRED
        FOR EACH ROW EXECUTE FUNCTION hold_commit();
      SELECT pg_advisory_lock(1)`);
    const deadline = Date.now() + 60_000;
    const oneWaitsFor = async (what: string) => {
      const text = "SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event = $1";
      while ((await client.query(text, [what])).rowCount === 0) assert.ok(Date.now() < deadline, `one waits for a lock: ${what}`);
    };
    appended = store.eventAppend(sampleBatch(environment, [event]));
    await oneWaitsFor("advisory");
    proxy.endAll();
    await oneWaitsFor("transactionid");
  });
  const { ids, duplicates } = (await appended) as unknown as Awaited<ReturnType<Store["eventAppend"]>>;
  assert.deepEqual([ids, duplicates], [[event.id], 0]);
  const stored = await store.eventGet({ environmentId: environment.id, id: event.id });
  assert.equal(stored?.duplicates, 0);
});

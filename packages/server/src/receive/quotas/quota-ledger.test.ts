import assert from "node:assert/strict";
import { test } from "node:test";
import { type EnvironmentId, Refusal } from "@inlet/protocol";
import { pino } from "pino";
import type { Environment, StoreTopic } from "../../store/contract/index.ts";
import { noUsage } from "../../store/usage/contract.ts";
import { grantLease, type LeasedOfQuota } from "../../store/usage/policy.ts";
import { QuotaLedger, type QuotaLedgerParts, type QuotaTaken } from "./quota-ledger.ts";

const NOON = Date.UTC(2030, 5, 15, 12);
const LIMIT = 20;
const environmentId = 1 as EnvironmentId;

/** A node with a quota of 20 events per day, in a store that counts what `accept` stores. */
function sharedLedger() {
  const quotas = { eventsPerSecond: null, eventsPerDay: LIMIT, bytesPerDay: null, callsAtOnce: null, storedBytes: null };
  let environment = { id: environmentId, name: "production", quotas } as Environment;
  const refreshed = new Set<() => void>();
  const limit = (eventsPerDay: number) => {
    environment = { ...environment, quotas: { ...quotas, eventsPerDay } };
    for (const listener of refreshed) listener();
  };
  const state = { nodes: 2, stored: 0, leased: null as LeasedOfQuota | null, reports: 0, changed: (_: StoreTopic): void => undefined };
  const store = {
    storeIsShared: true,
    async storeReport() {
      state.reports++;
      return { nodes: Array.from({ length: state.nodes }, () => ({ isGone: false })) };
    },
    storeWatch: (listener: (topic: StoreTopic) => void) => {
      state.changed = listener;
      return () => undefined;
    },
    usageList: async () => {
      const figures = { ...noUsage(), accepted: state.stored };
      return [{ environmentId, kind: "environment" as const, subject: "", at: NOON, figures }];
    },
    quotaLease: async (asked: Parameters<typeof grantLease>[2]) => {
      const granted = grantLease(state.leased, state.stored, asked);
      state.leased = granted;
      return granted;
    },
    quotaRelease: async ({ unused }: { unused: number }) => {
      if (state.leased) state.leased.leased -= unused;
    },
  } as unknown as QuotaLedgerParts["store"];
  const directory = {
    environment: () => environment,
    environments: () => [environment],
    onRefresh: (listener: () => void) => void refreshed.add(listener),
  };
  const ledger = new QuotaLedger({ store, directory, log: pino({ level: "silent" }), now: () => NOON });
  const take = (events = 1) => ledger.take({ environmentId, at: NOON, events, bytes: 0, countNew: null });
  const reserve = async (events?: number) => {
    const taken = await take(events);
    if (taken instanceof Refusal) throw taken;
    return taken;
  };
  const settle = (taken: QuotaTaken, events: number) => {
    state.stored += events;
    taken.settle(events);
  };
  return { ledger, state, limit, take, reserve, settle };
}

test("a node that is left alone counts each request in progress once: the quota is exact", async () => {
  const { ledger, state, take, reserve, settle } = sharedLedger();
  await ledger.load();
  ledger.start();
  const [kept, duplicate, failed] = [await reserve(3), await reserve(), await reserve(2)];
  state.nodes = 1;
  state.changed("directory");
  // The store has the first, and the others do not know yet that they are a duplicate, and not stored.
  settle(kept, 3);
  const during = take();
  await new Promise(setImmediate);
  settle(duplicate, 0);
  settle(failed, 0);
  const taken = await during;
  assert.ok(!(taken instanceof Refusal));
  settle(taken, 1);
  for (;;) {
    const more = await take();
    if (more instanceof Refusal) break;
    settle(more, 1);
  }
  assert.equal(state.stored, LIMIT);
  state.nodes = 2;
  state.changed("directory");
  await new Promise(setImmediate);
  assert.ok((await take()) instanceof Refusal, "what was leased before is not used on top");
  await ledger.stop();
});

test("what the store has stored without saying so counts, on a node that is alone", async () => {
  const { ledger, state, take, reserve, settle } = sharedLedger();
  state.nodes = 1;
  await ledger.load();
  ledger.start();
  const lost = await reserve(3);
  state.stored += 3;
  lost.settle("unknown");
  const fill = async () => {
    for (;;) {
      const more = await take();
      if (more instanceof Refusal) break;
      settle(more, 1);
    }
  };
  await fill();
  assert.equal(state.stored, LIMIT);
  state.changed("directory");
  await fill();
  assert.equal(state.stored, LIMIT, "also once what was used has been read again");
  await ledger.stop();
});

test("a quota that is changed while requests are in progress is kept: what they do not use is leased under the new limit", async () => {
  const { ledger, state, limit, take, reserve, settle } = sharedLedger();
  await ledger.load();
  const [kept, duplicates] = [await reserve(2), await reserve(15)];
  limit(6);
  const waiting = take();
  settle(kept, 2);
  settle(duplicates, 0);
  const first = await waiting;
  assert.ok(!(first instanceof Refusal), "it waited for the duplicates before it");
  settle(first, 1);
  for (;;) {
    const more = await take();
    if (more instanceof Refusal) break;
    settle(more, 1);
  }
  assert.equal(state.stored, 6);
  limit(LIMIT);
  assert.ok(!((await take()) instanceof Refusal), "in force at once");
  await ledger.stop();
});

test("a request that waits while a quota is changed is held to the new one", async () => {
  for (const nodes of [1, 2]) {
    const { ledger, state, limit, take, reserve, settle } = sharedLedger();
    state.nodes = nodes;
    await ledger.load();
    const before = await reserve(LIMIT);
    const waiting = take();
    await new Promise(setImmediate);
    limit(5);
    settle(before, 5);
    assert.ok((await waiting) instanceof Refusal, `${nodes} nodes`);
    await ledger.stop();
  }
});

test("a request that no duplicate in progress can make room for is refused at once, and one that it can waits", async () => {
  for (const nodes of [1, 2]) {
    const { ledger, state, take, reserve, settle } = sharedLedger();
    state.nodes = nodes;
    await ledger.load();
    settle(await reserve(10), 10);
    const inProgress = await reserve(8);
    assert.ok((await take(11)) instanceof Refusal, `${nodes} nodes`);
    const waiting = take(10);
    settle(inProgress, 0);
    const taken = await waiting;
    assert.ok(!(taken instanceof Refusal), "it waited");
    settle(taken, 10);
    assert.ok((await take()) instanceof Refusal);
    await ledger.stop();
  }
});

test("what is a duplicate by now is counted before a request is refused, and again after it has waited", async () => {
  const { ledger, state, reserve, settle } = sharedLedger();
  state.nodes = 1;
  await ledger.load();
  settle(await reserve(18), 18);
  const inProgress = await reserve(2);
  // Of five events, three are stored; the others are in progress.
  const counts = [2, 0];
  const repeated = ledger.take({ environmentId, at: NOON, events: 5, bytes: 0, countNew: async () => counts.shift() ?? assert.fail() });
  await new Promise(setImmediate);
  settle(inProgress, 2);
  assert.ok(!((await repeated) instanceof Refusal));
  assert.deepEqual(counts, []);
  await ledger.stop();
});

test("a node that accepts nothing gives back what it leased under another limit", async () => {
  const { ledger, state, limit, reserve, settle } = sharedLedger();
  limit(1_000);
  await ledger.load();
  ledger.start();
  settle(await reserve(), 1);
  assert.equal(state.leased?.leased, 25, "its share");
  limit(10);
  await new Promise(setImmediate);
  assert.equal(state.leased?.leased, 1);
  await ledger.stop();
});

test("however long the nodes take to be counted, they are counted once more after that, and a stop waits for no more", async () => {
  const { ledger, state } = sharedLedger();
  ledger.start();
  state.reports = 0;
  state.changed("directory");
  for (let n = 0; n < 20; n++) state.changed("directory");
  await ledger.stop();
  assert.equal(state.reports, 1, "all that was announced before it began");
});

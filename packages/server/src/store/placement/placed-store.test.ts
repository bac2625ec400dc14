/**
 * The suite on a store of two databases, as far as more than one of them is asked: every environment is on the one that is not the directory.
 * Then how long that one goes on without the directory.
 */

import assert from "node:assert/strict";
import { test } from "node:test";
import type { FunctionNo } from "@inlet/protocol";
import { HOOKS, openOnTwoDatabases, openPlacedPostgres } from "../../../test/support/conformance-store.ts";
import { databasePlug } from "../../../test/support/database-plug.ts";
import { onEnd } from "../../../test/support/on-end.ts";
import { migratedDatabase, whyNoPostgres } from "../../../test/support/postgres.ts";
import { until } from "../../../test/support/runs.ts";
import { placementConformance } from "../conformance/conformance.ts";
import { begin, NO_ROOM, sampleLease, sampleRun, sampleSync } from "../conformance/run-samples.ts";
import { sampleBatch, sampleEvent } from "../conformance/samples.ts";
import { type Environment, type EventListParams, NO_ENVIRONMENT_ID, type Store, StoreUnavailable } from "../contract/index.ts";

const skip = whyNoPostgres() ?? false;

if (skip) test("two databases: conformance", { skip });
else placementConformance({ name: "two databases", databaseNo: 1, open: openOnTwoDatabases });

test("a limit of all environments counts in each database by itself", { skip }, async (t) => {
  const { store } = await openOnTwoDatabases(t);
  for (const databaseNo of [0, 1]) {
    const made = { name: `on-${databaseNo}`, kind: "custom", createdAt: 1, bodyBytesMax: null, databaseNo } as const;
    const environment = (await store.environmentInsert(made)) as Environment;
    await store.appSync(sampleSync(environment));
    const { no } = (await store.functionList()).find(({ environmentId }) => environmentId === environment.id) as { no: FunctionNo };
    const lane = `fn:${no}`;
    await begin({ store, environment, functions: [no, no] }, [sampleRun(no, { lane }), sampleRun(no, { lane })], { lease: NO_ROOM });
    const limits = [{ id: "account::", cap: 1 }];
    const claim = () =>
      store.queueClaimMany({ environmentId: environment.id, lane, limit: 10, now: 1_000, lease: sampleLease({ until: 31_000 }), limits });
    assert.deepEqual([(await claim()).claimed.length, (await claim()).claimed.length], [1, 0]);
  }
});

test("databases are told as values, which can be copied", { skip }, async (t) => {
  const { store } = await openOnTwoDatabases(t);
  const told = store.storeDatabases().map((database) => ({ ...database }));
  assert.deepEqual(
    told.map(({ no, name, isReachable }) => ({ no, name, isReachable })),
    [
      { no: 0, name: "directory", isReachable: true },
      { no: 1, name: "second", isReachable: true },
    ],
  );
  assert.ok(told.every((database) => typeof database.store.storeProbe === "function"));
});

test("without the directory, an environment goes on for as long as its place is known", { skip }, async (t) => {
  const directory = await databasePlug(t, await migratedDatabase(t));
  const open = async (cacheMs: number) => {
    const store = await openPlacedPostgres({ url: directory.url, ...HOOKS, cacheMs }, { error: () => undefined, info: () => undefined });
    onEnd(t, () => store.stop());
    return store;
  };
  const patient = await open(3_600_000);
  await patient.databaseAdd({ name: "second", url: await migratedDatabase(t), readUrl: null, createdAt: 1 });
  const made = { name: "far", kind: "custom", createdAt: 1, bodyBytesMax: null, databaseNo: 1 } as const;
  const environment = (await patient.environmentInsert(made)) as Environment;
  const forgetful = await open(1);
  const accept = (store: Store) => store.eventAppend(sampleBatch(environment, [sampleEvent()]));
  await Promise.all([accept(patient), accept(forgetful)]);

  await directory.pull();
  const isAway = (store: Store) => store.storeDatabases()[0]?.isReachable === false || undefined;
  await until("both nodes notice", async () => isAway(patient) && isAway(forgetful));
  await Promise.all([patient.storeProbe(), accept(patient)]);
  const nothing = await patient.eventList({ environmentId: NO_ENVIRONMENT_ID, limit: 1 } as EventListParams);
  assert.deepEqual(nothing.events, [], "what is about no environment needs no directory");
  await assert.rejects(forgetful.storeProbe(), StoreUnavailable);
  await assert.rejects(accept(forgetful), StoreUnavailable);

  await directory.restore();
  await until("it is found again", () => accept(forgetful).catch(() => undefined));
  await forgetful.storeProbe();
});

/**
 * The suite on a store of two databases, as far as more than one of them is asked: every environment is on the one that is not the directory.
 * Then how long that one goes on without the directory.
 */

import assert from "node:assert/strict";
import { test } from "node:test";
import { HOOKS, openOnTwoDatabases, openPlacedPostgres } from "../../../test/support/conformance-store.ts";
import { databasePlug } from "../../../test/support/database-plug.ts";
import { onEnd } from "../../../test/support/on-end.ts";
import { migratedDatabase, whyNoPostgres } from "../../../test/support/postgres.ts";
import { until } from "../../../test/support/runs.ts";
import { placementConformance } from "../conformance/conformance.ts";
import { sampleBatch, sampleEvent } from "../conformance/samples.ts";
import { type Environment, type Store, StoreUnavailable } from "../contract/index.ts";

const skip = whyNoPostgres() ?? false;

if (skip) test("two databases: conformance", { skip });
else placementConformance({ name: "two databases", databaseNo: 1, open: openOnTwoDatabases });

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
  await assert.rejects(forgetful.storeProbe(), StoreUnavailable);
  await assert.rejects(accept(forgetful), StoreUnavailable);

  await directory.restore();
  await until("it is found again", () => accept(forgetful).catch(() => undefined));
  await forgetful.storeProbe();
});

/**
 * A backlog that waits for a throttle costs the database the same after any number of polls and refreshes: the store is asked about once
 * for each run that starts. Asks are counted, not timed.
 */

import assert from "node:assert/strict";
import { test } from "node:test";
import { poll, startApp } from "./support/app.ts";
import { cuttingProxy } from "./support/cutting-proxy.ts";
import { inDatabase, migratedDatabase, whyNoPostgres } from "./support/postgres.ts";
import { startTestService } from "./support/service.ts";

const FUNCTIONS = 4;
const POLLS = 6;
const STARTS = 12;
/** One that finds a run to admit, one that another node's message or a poll causes. */
const ASKS_PER_START_MAX = 3;
const ASK = /SELECT environment_id FROM functions WHERE function_no/;

test("four throttled functions with a constant backlog", { skip: whyNoPostgres() ?? false }, async (t) => {
  const databaseUrl = await migratedDatabase(t);
  const proxy = await cuttingProxy(t, databaseUrl);
  const service = await startTestService(t, { hasDefaultConnections: true, databaseUrl: proxy.url });
  let count = 0;
  const started = () => count;
  // The backlog lasts longer than anything is waited for.
  const throttle = { limit: 1, period: "2s" } as const;
  const ids = Array.from({ length: FUNCTIONS }, (_, n) => `fn-${n}`);
  await startApp(t, service, (inlet) => ids.map((id) => inlet.createFunction({ id, throttle }, { event: "many" }, () => void count++)));
  await service.send(Array.from({ length: 200 }, () => ({ name: "many", data: {} })));
  await poll(async () => started() >= FUNCTIONS || null, "the first starts");

  const registryReads = proxy.count(/FROM apps/);
  for (let n = 1; n <= POLLS; n++) {
    await inDatabase(databaseUrl, (client) => client.query(`SELECT pg_notify('inlet', 'another-node {"look":true}')`));
    await poll(async () => registryReads() >= n || null, "the poll of the node");
  }
  const asks = proxy.count(ASK);
  const before = started();
  await poll(async () => started() >= before + STARTS || null, "more starts");
  const most = (started() - before) * ASKS_PER_START_MAX;
  assert.ok(asks() <= most, `${asks()} asks for ${started() - before} starts`);
});

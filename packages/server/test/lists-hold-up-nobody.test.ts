/**
 * On PostgreSQL, a list over many names reads each name with a query of its own, over the few connections that all lists share. It
 * leaves some of them to others: while such lists run, events are accepted and other lists are answered.
 */

import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { poll } from "./support/app.ts";
import { cuttingProxy } from "./support/cutting-proxy.ts";
import { migratedDatabase, whyNoPostgres } from "./support/postgres.ts";
import { startTestService, type TestService } from "./support/service.ts";

const skip = whyNoPostgres() ?? false;
/** As many as are read one by one. */
const NAMES = 50;
/** Many more than there are connections for lists. */
const LISTS = 30;
const OF_ONE_NAME = /FROM events WHERE[\s\S]*name_id = \$/;

async function startWithNames(t: TestContext, databaseUrl: string): Promise<TestService> {
  const service = await startTestService(t, { hasDefaultConnections: true, databaseUrl });
  await accepts(
    service,
    Array.from({ length: NAMES }, (_, n) => ({ name: `many/name.${n}`, data: {} })),
  );
  return service;
}

async function accepts(service: TestService, events: unknown): Promise<void> {
  const { status, text } = await service.send(events);
  assert.equal(status, 200, text);
}

async function listed(service: TestService, query: string): Promise<number> {
  const { status, body, text } = await service.rest("GET", `/events?limit=100&${query}`);
  assert.equal(status, 200, text);
  return body.data.length;
}

test("a list over many names that gets no response leaves a connection to others", { skip }, async (t) => {
  const proxy = await cuttingProxy(t, await migratedDatabase(t));
  const service = await startWithNames(t, proxy.url);
  const held = proxy.holdEach(OF_ONE_NAME);
  const unanswered = service.rest("GET", "/events?name=many/*");
  await poll(async () => (held() >= 2 ? true : null), "the queries of the list");
  for (let n = 0; n < 5; n++) {
    await accepts(service, { name: "many/name.1", data: {} });
    assert.equal(await listed(service, ""), NAMES + n + 1);
  }
  assert.equal(held(), 2, "queries of the list at the same time");
  proxy.close();
  assert.equal((await unanswered).status, 503);
});

test("while many lists over many names run, events are accepted and other lists are answered", { skip }, async (t) => {
  const service = await startWithNames(t, await migratedDatabase(t));
  const lists = Array.from({ length: LISTS }, () => listed(service, "name=many/*"));
  for (let n = 0; n < 10; n++) {
    await accepts(service, { name: "other/name", data: {} });
    assert.equal(await listed(service, "name=other/name"), n + 1);
  }
  assert.deepEqual(new Set(await Promise.all(lists)), new Set([NAMES]));
});

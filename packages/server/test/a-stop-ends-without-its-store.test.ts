/**
 * A node that is asked to stop while PostgreSQL is silent, as one that hangs or whose network is gone, ends with exit code 0: whatever was
 * acknowledged is stored, and whoever waits for the node does not wait for the database.
 */

import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { Client } from "pg";
import { inDatabase, ownPostgres, whyNoPostgres } from "./support/postgres.ts";
import { startInlet } from "./support/process.ts";
import { until } from "./support/runs.ts";
import { call } from "./support/service.ts";

const skip = whyNoPostgres() ?? false;

const EVENT = '{"name":"a/b","data":{}}';

async function startStored(t: TestContext, url: string, timeout: string) {
  const argv = ["start", "--port", "0", "--host", "127.0.0.1", "--event-key", "mine", "--log-level", "error"];
  const inlet = await startInlet(t, [...argv, "--database-timeout", timeout, "--drain-timeout", "2s", "--database-url", url]);
  const send = () => call(`${inlet.url}/e/mine`, { method: "POST", body: EVENT });
  await stored(send);
  return { inlet, send };
}

/** However busy the machine is. */
function stored(send: () => Promise<{ status: number }>): Promise<true> {
  return until("an event is stored", async () => (await send()).status === 200 || undefined);
}

test("SIGTERM while PostgreSQL is silent", { skip }, async (t) => {
  const postgres = await ownPostgres(t, { fsync: false });
  const { inlet, send } = await startStored(t, postgres.url, "4s");
  await postgres.pause();
  assert.equal((await send()).status, 503);
  assert.equal(await inlet.end("SIGTERM"), 0);
});

test("SIGTERM while PostgreSQL is silent in the middle of maintenance, which may take longer than a stop", { skip }, async (t) => {
  const postgres = await ownPostgres(t, { fsync: false });
  const { inlet, send } = await startStored(t, postgres.url, "60s");
  const locker = new Client(postgres.url);
  locker.on("error", () => undefined);
  await locker.connect();
  // An exclusive lock would take a transaction id, and events that are stored after it would not be counted.
  await locker.query("BEGIN; LOCK TABLE traffic_minutes IN SHARE MODE");
  const counting = "SELECT FROM pg_stat_activity WHERE query LIKE '%INTO traffic_minutes%' AND wait_event_type = 'Lock'";
  await stored(send);
  await until("events are being counted", () =>
    inDatabase(postgres.url, async (client) => ((await client.query(counting)).rowCount ? true : undefined)),
  );
  await postgres.pause();
  assert.equal(await inlet.end("SIGTERM"), 0);
  assert.match(inlet.stderr(), /stopping took too long/);
});

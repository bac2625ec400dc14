/**
 * A node that is asked to stop while PostgreSQL is silent, as one that hangs or whose network is gone, ends with exit code 0: whatever was
 * acknowledged is stored, and whoever waits for the node does not wait for the database.
 */

import assert from "node:assert/strict";
import { test } from "node:test";
import { ownPostgres, whyNoPostgres } from "./support/postgres.ts";
import { startInlet } from "./support/process.ts";
import { until } from "./support/runs.ts";
import { call } from "./support/service.ts";

const skip = whyNoPostgres() ?? false;

test("SIGTERM while PostgreSQL is silent", { skip }, async (t) => {
  const postgres = await ownPostgres(t, { fsync: false });
  const argv = ["start", "--port", "0", "--host", "127.0.0.1", "--event-key", "mine", "--log-level", "fatal"];
  const limits = ["--database-timeout", "1s", "--drain-timeout", "2s"];
  const inlet = await startInlet(t, [...argv, ...limits, "--database-url", postgres.url]);
  const send = () => call(`${inlet.url}/e/mine`, { method: "POST", body: '{"name":"a/b","data":{}}' });
  await until("an event is stored, however busy the machine is", async () => (await send()).status === 200 || undefined);
  await postgres.pause();
  assert.equal((await send()).status, 503);
  assert.equal(await inlet.end("SIGTERM"), 0);
});

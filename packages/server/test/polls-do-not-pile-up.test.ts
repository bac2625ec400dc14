/** A poll that PostgreSQL does not answer holds one connection: the next poll waits for its end, however short the interval is. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { poll } from "./support/app.ts";
import { cuttingProxy } from "./support/cutting-proxy.ts";
import { migratedDatabase, whyNoPostgres } from "./support/postgres.ts";
import { startTestService } from "./support/service.ts";

const skip = whyNoPostgres() ?? false;
/** Far longer than the test takes: the poll is not given up meanwhile. */
const FLAGS = ["--poll-interval", "100ms", "--database-timeout", "60s"];
const POLL = /FROM walk WHERE EXISTS/;
/** Another loop, whose interval is five times as long. */
const JOBS = /UPDATE jobs/;

test("a poll without a response is the only one", { skip }, async (t) => {
  const proxy = await cuttingProxy(t, await migratedDatabase(t));
  const service = await startTestService(t, { hasDefaultConnections: true, databaseUrl: proxy.url, flags: FLAGS });
  await proxy.hold({ statement: POLL, when: "before" });
  const polls = proxy.count(POLL);
  const looks = proxy.count(JOBS);
  await poll(async () => (looks() >= 4 ? true : null), "the looks of another loop");
  assert.equal(polls(), 0, "polls beside the one without a response");
  assert.equal((await service.send({ name: "poll/other", data: {} })).status, 200);
  proxy.close();
});

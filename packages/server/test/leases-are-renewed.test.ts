/**
 * A call may take longer than a lease. The node that makes it renews the lease, so that no other node takes the entry for one that a
 * dead node left behind and makes the call a second time.
 */

import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { runsOf, startApp } from "./support/app.ts";
import { migratedDatabase, whyNoPostgres } from "./support/postgres.ts";
import { startTestService } from "./support/service.ts";

const skip = whyNoPostgres() ?? false;
/** Long enough for a busy machine to renew it. */
const LEASE_MS = 10_000;
const POLL_INTERVAL_MS = 200;
/** An entry whose lease ended is taken up within a poll interval. */
const LONGER_THAN_A_LEASE_MS = 1.5 * LEASE_MS;
const flags = ["--lease", `${LEASE_MS}ms`, "--poll-interval", `${POLL_INTERVAL_MS}ms`];

test("a call that takes longer than a lease is made once, however many nodes there are", { skip }, async (t) => {
  const databaseUrl = await migratedDatabase(t);
  const [first] = [
    await startTestService(t, { hasDefaultConnections: true, databaseUrl, flags }),
    await startTestService(t, { hasDefaultConnections: true, databaseUrl, flags }),
  ];
  let calls = 0;
  const second = Promise.withResolvers<"called again">();
  const release = Promise.withResolvers<void>();
  t.after(() => release.resolve());
  await startApp(t, first, (inlet) => [
    inlet.createFunction({ id: "long" }, { event: "shop/long" }, async () => {
      if (++calls > 1) second.resolve("called again");
      await release.promise;
      return "done";
    }),
  ]);
  const { body } = await first.send({ name: "shop/long", data: {} });
  await runsOf(first, body.ids[0], { until: ({ status }) => status === "running" });
  const outcome = await Promise.race([second.promise, pause(LONGER_THAN_A_LEASE_MS, "not called again", { ref: false })]);
  assert.equal(outcome, "not called again");
  release.resolve();
  const [run] = await runsOf(first, body.ids[0]);
  assert.deepEqual([run.status, run.output, calls], ["completed", "done", 1]);
});

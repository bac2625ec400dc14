/** A key that a failed run blocks can be released after retention has removed that run. */

import assert from "node:assert/strict";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { type TestContext, test } from "node:test";
import { Inlet } from "@inlet/sdk";
import { serve } from "@inlet/sdk/node";
import { onEnd } from "./support/on-end.ts";
import { migratedDatabase, whyNoPostgres } from "./support/postgres.ts";
import { endedRun, until } from "./support/runs.ts";
import { startTestService, type TestServiceOptions, temporaryFolder } from "./support/service.ts";

const LATER_MS = 40 * 86_400_000;

const STORES: Record<string, (t: TestContext) => Promise<TestServiceOptions>> = {
  sqlite: async (t) => ({ dataDir: temporaryFolder(t) }),
  postgres: async (t) => ({ databaseUrl: await migratedDatabase(t) }),
};

/** The address of an app whose function fails for the first order of a customer. Without signatures, so that clocks do not matter. */
async function serveBilling(t: TestContext, baseUrl: string): Promise<string> {
  const client = new Inlet({ id: "shop", baseUrl, isDev: true });
  const options = { id: "bill", retries: 0 as const, ordering: { key: "event.data.customer", onFailure: "hold" as const } };
  const bill = client.createFunction(options, { event: "shop/order" }, ({ event }) => {
    if (event.data.n === 0) throw new Error("no");
    return event.data.n;
  });
  const app = createServer(serve({ client, functions: [bill] }));
  await new Promise<void>((resolve) => app.listen(0, "127.0.0.1", resolve));
  onEnd(t, () => new Promise<void>((resolve) => void app.close(() => resolve()).closeAllConnections()));
  return `http://127.0.0.1:${(app.address() as AddressInfo).port}/api/inlet`;
}

for (const [store, optionsOf] of Object.entries(STORES)) {
  const skip = (store === "postgres" && whyNoPostgres()) || false;

  test(`${store}: a key on hold is released by the id of the hold when retention has removed the failed run`, { skip }, async (t) => {
    const options: TestServiceOptions = { ...(await optionsOf(t)), mode: "dev" };
    const before = await startTestService(t, options);
    assert.equal((await before.rest("POST", "/apps", { body: { url: await serveBilling(t, before.url) } })).status, 201);
    const sent = await before.send([0, 1].map((n) => ({ name: "shop/order", data: { customer: "ada", n } })));
    const [failedEvent, nextEvent] = sent.body.ids as [string, string];
    const failed = await endedRun(before, failedEvent);
    assert.equal(failed.status, "failed");
    await before.stop();

    const service = await startTestService(t, { ...options, flags: ["--run-retention", "30d"], now: () => Date.now() + LATER_MS });
    await until("the failed run is gone", async () => (await service.rest("GET", `/runs/${failed.id}`)).status === 404 || undefined);
    assert.equal((await service.rest("POST", `/runs/${failed.id}/release`)).status, 404);
    const { body } = await service.rest("GET", "/holds");
    const [{ id, heldAt: _, ...hold }] = body.data;
    const fn = { id: "shop-bill", name: "bill" };
    assert.deepEqual(hold, { function: fn, key: null, runId: null, waiting: 1 });

    const released = await service.rest("POST", `/holds/${id}/release`);
    assert.deepEqual([released.status, released.body.data], [200, { id, function: fn, key: null, runId: null }], released.text);
    assert.equal((await endedRun(service, nextEvent)).output, 1);
    assert.deepEqual((await service.rest("GET", "/holds")).body.data, []);
    for (const unknown of [id, "nothing"]) {
      const again = await service.rest("POST", `/holds/${unknown}/release`);
      assert.deepEqual([again.status, again.body.code], [404, "hold_not_found"]);
    }
    const audit = await service.rest("GET", "/audit-log?action=hold.released");
    assert.deepEqual(audit.body.data[0].target, { kind: "hold", id, name: "shop-bill" });
  });
}

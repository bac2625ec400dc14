/** `PUT /v1/functions/:id/limits`: limits that hold at once on every node, and survive syncs and restarts. */

import assert from "node:assert/strict";
import { startApp } from "./support/app.ts";
import { test } from "./support/both-stores.ts";
import { onEnd } from "./support/on-end.ts";
import { migratedDatabase } from "./support/postgres.ts";
import { until } from "./support/runs.ts";
import { startTestService } from "./support/service.ts";

test("a limit without a deploy holds at once, survives a sync, and is taken back", async (t, engine) => {
  const start = engine === "postgres" ? { databaseUrl: await migratedDatabase(t) } : {};
  const service = await startTestService(t, start);
  // On PostgreSQL the limit is set on another node.
  const other = engine === "postgres" ? await startTestService(t, start) : service;
  let [now, most] = [0, 0];
  let done = Promise.withResolvers<void>();
  onEnd(t, async () => done.resolve());
  const app = await startApp(t, service, (inlet) => [
    inlet.createFunction({ id: "busy", concurrency: 1 }, { event: "shop/busy" }, async () => {
      most = Math.max(most, ++now);
      await done.promise;
      now--;
    }),
    inlet.createFunction({ id: "ordered", ordering: { key: "event.data.id" } }, { event: "shop/ordered" }, () => undefined),
  ]);
  const put = (body: object, id = "shop-busy") => other.rest("PUT", `/functions/${id}/limits`, { body });
  const shown = async () => {
    const { body } = await service.rest("GET", "/functions?limit=100");
    return body.data.find(({ id }: { id: string }) => id === "shop-busy");
  };
  const none = { concurrency: null, throttle: null, rateLimit: null, changedAt: null, changedBy: null };
  assert.deepEqual((await shown()).limits, none);

  await service.send(Array(4).fill({ name: "shop/busy", data: {} }));
  await until("the first", () => (now === 1 ? true : undefined));
  const raised = await put({ concurrency: 3 });
  assert.equal(raised.status, 200, raised.text);
  assert.equal(raised.body.data.limits.concurrency, 3);
  assert.deepEqual(raised.body.data.config.concurrency, 1, "what the app registered is shown beside it");
  await until("three at a time", () => (now === 3 ? true : undefined));

  const synced = await service.rest("POST", "/apps", { body: { url: app.url } });
  assert.equal(synced.status, 201, synced.text);
  await until("the limit after a sync", async () => ((await shown()).limits.concurrency === 3 ? true : undefined));
  done.resolve();
  await until("all", async () =>
    (await service.rest("GET", "/runs?status=completed&limit=100")).body.data.length === 4 ? true : undefined,
  );
  assert.equal(most, 3);

  done = Promise.withResolvers<void>();
  assert.deepEqual((await put({ concurrency: null, throttle: { limit: 5, period: "1m" } })).body.data.limits.concurrency, null);
  assert.equal((await put({ throttle: null })).body.data.limits.changedAt, null);
  most = 0;
  await until("both changes on this node", async () => {
    const { concurrency, throttle } = (await shown()).limits;
    return (concurrency === null && throttle === null) || undefined;
  });
  await service.send(Array(3).fill({ name: "shop/busy", data: {} }));
  await until("the first", () => (now === 1 ? true : undefined));
  done.resolve();
  await until("all", async () =>
    (await service.rest("GET", "/runs?status=completed&limit=100")).body.data.length === 7 ? true : undefined,
  );
  assert.equal(most, 1, "the app's own limit again");

  const audited = (await service.rest("GET", "/audit-log?action=function.limited")).body.data;
  assert.deepEqual(audited.at(-1).details, { concurrency: 3, throttle: null, rateLimit: null });
  const refused: [object, string][] = [
    [{ concurrency: 0 }, "concurrency"],
    [{ throttle: { limit: 1, period: "soon" } }, "throttle.period"],
    [{ throttle: { limit: 1, period: "1ms" } }, "throttle.period"],
    [{ rateLimit: { limit: 1, period: "2d" } }, "rateLimit.period"],
    [{ priority: 1 }, "priority"],
  ];
  for (const [body, field] of refused) {
    const { status, body: answer } = await put(body);
    assert.deepEqual([status, answer.details[0].field], [400, field], JSON.stringify(answer));
  }
  const ordered = await put({ rateLimit: { limit: 1, period: "1m" } }, "shop-ordered");
  assert.deepEqual([ordered.status, ordered.body.details[0].field], [400, "rateLimit"]);
  assert.equal((await put({}, "shop-nowhere")).body.code, "function_not_found");
});

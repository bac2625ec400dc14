/**
 * An accepted event starts every function that is registered for it, also on a node that has not been able to read them yet: until it has
 * read what an environment's database holds, the node refuses events of that environment, and only these.
 */

import assert from "node:assert/strict";
import { test } from "node:test";
import { startApp } from "./support/app.ts";
import { cuttingProxy } from "./support/cutting-proxy.ts";
import { accepts, ok, runs } from "./support/database-trouble.ts";
import { startNode } from "./support/nodes.ts";
import { migratedDatabase, whyNoPostgres } from "./support/postgres.ts";
import { EVENT_KEY } from "./support/service.ts";

const skip = whyNoPostgres() ?? false;
const FAR = { "x-service-env": "far" };
const ORDER = { name: "shop/order", data: {} };

test("a node that could not read the functions of a database accepts no events that would not start them", { skip }, async (t) => {
  const second = await cuttingProxy(t, await migratedDatabase(t));
  const flags = ["--database-url", await migratedDatabase(t)];
  const node = await startNode(t, flags);
  await ok(node.rest("POST", "/databases", { body: { name: "second", url: second.url } }), 201);
  await ok(node.rest("POST", "/environments", { body: { name: "far", database: "second" } }), 201);
  const { key } = (await ok(node.rest("POST", "/keys", { body: { kind: "event", name: "far" }, headers: FAR }), 201)).body.data;
  for (const environment of ["production", "far"]) {
    const make: Parameters<typeof startApp>[2] = (client) => [
      client.createFunction({ id: "order" }, { event: "shop/order" }, ({ step }) => step.run("one", () => 1)),
    ];
    await startApp(t, node, make, { id: `app-${environment}`, environment });
  }

  second.cutBy((statement) => (/FROM functions\b/.test(statement) ? "before" : null));
  const late = await startNode(t, flags);
  const refused = await late.send(ORDER, { key });
  assert.deepEqual([refused.status, refused.body.code], [503, "store_unavailable"], refused.text);
  await runs(late, EVENT_KEY, {});
  second.cutBy(null);
  await accepts(late, key);
  await runs(late, key, FAR);
  const events = (await ok(late.rest("GET", "/events?name=shop/order&limit=100", { headers: FAR }), 200)).body.data;
  for (const { id } of events) {
    const started = (await ok(late.rest("GET", `/events/${id}/runs`, { headers: FAR }), 200)).body.data;
    assert.equal(started.length, 1, `runs of ${id}`);
  }
});

/** What a request has of a budget is free again when its client has gone, whenever that was. */

import assert from "node:assert/strict";
import { type AddressInfo, connect } from "node:net";
import { type TestContext, test } from "node:test";
import Fastify, { type FastifyInstance } from "fastify";
import { BodyBudget } from "../receive/bodies/body-budget.ts";
import { registerBodyBudget, registerResponseBudget } from "./framework-bodies.ts";

const BUDGET_BYTES = 1_000_000;

type MakeRoute = (app: FastifyInstance, budget: BodyBudget, isGone: () => Promise<void>) => void;

/** Sends a request whose client goes before it is answered, and returns whether the whole budget is free afterwards. */
async function isFreeAfter(t: TestContext, head: string, makeRoute: MakeRoute): Promise<boolean> {
  const budget = new BodyBudget(BUDGET_BYTES);
  const [arrived, gone, done] = [Promise.withResolvers<void>(), Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const app = Fastify({ bodyLimit: BUDGET_BYTES });
  app.addHook("onRequest", async (_request, reply) => void reply.raw.once("close", gone.resolve));
  for (const hook of ["onResponse", "onError"] as const) app.addHook(hook, async () => done.resolve());
  makeRoute(app, budget, () => {
    arrived.resolve();
    return gone.promise;
  });
  t.after(() => app.close());
  await app.listen({ port: 0, host: "127.0.0.1" });
  const socket = connect((app.server.address() as AddressInfo).port, "127.0.0.1");
  socket.write(head);
  await arrived.promise;
  socket.resetAndDestroy();
  await gone.promise;
  // A response that nobody gets may have no end.
  await Promise.race([done.promise, new Promise((resolve) => setTimeout(resolve, 1_000))]);
  return budget.enter()?.take(BUDGET_BYTES - 2_000) === true;
}

test("a response whose client went while it was made", async (t) => {
  const head = "GET / HTTP/1.1\r\nHost: a\r\n\r\n";
  const isFree = await isFreeAfter(t, head, (app, budget, isGone) => {
    registerResponseBudget(app, budget);
    app.get("/", async () => {
      await isGone();
      return "x".repeat(500_000);
    });
  });
  assert.ok(isFree);
});

test("a body whose client went while its credentials were checked", async (t) => {
  const head = "POST / HTTP/1.1\r\nHost: a\r\nContent-Type: text/plain\r\nContent-Length: 900000\r\n\r\nx";
  const isFree = await isFreeAfter(t, head, (app, budget, isGone) => {
    app.addHook("onRequest", isGone);
    registerBodyBudget(app, budget);
    app.post("/", async ({ body }) => body);
  });
  assert.ok(isFree);
});

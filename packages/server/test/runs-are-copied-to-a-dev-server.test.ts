/**
 * A failed run is copied to a dev server: the function goes on there with the results of the steps before the failure, from the step that
 * failed. Only dev servers start copies, and only for pages that they allow.
 */

import assert from "node:assert/strict";
import { test as testOnce } from "node:test";
import type { Inlet } from "@inlet/sdk";
import { NonRetriableError } from "@inlet/sdk";
import { runsOf, startApp } from "./support/app.ts";
import { test } from "./support/both-stores.ts";
import { isEnded, runDetails, until } from "./support/runs.ts";
import { call, startTestService, type TestService } from "./support/service.ts";

/** `ran` notes the steps that were executed. `isMended`: the code no longer fails. */
function shop(inlet: Inlet, ran: string[], isMended: boolean) {
  return [
    inlet.createFunction({ id: "order" }, { event: "shop/order.created" }, async ({ event, step }) => {
      const label = await step.run("label", () => `label ${ran.push("label")}`);
      await step.sleep("rest", "1ms");
      const reason = await step
        .run("reserve", () => {
          ran.push("reserve");
          throw new NonRetriableError("sold out");
        })
        .catch((error: Error) => error.message);
      await step.run("charge", () => {
        ran.push("charge");
        if (!isMended) throw new NonRetriableError("declined");
      });
      return { label, reason, id: event.id, ts: event.ts };
    }),
    inlet.createFunction({ id: "sum", batchEvents: { maxSize: 2, timeout: "60s" } }, { event: "shop/sum" }, async ({ events, step }) => {
      const first = await step.run("first", () => `first ${ran.push("first")}`);
      if (!isMended) throw new NonRetriableError("overflow");
      return [first, events.map(({ data }) => data.n)];
    }),
  ];
}

async function copyOf(service: TestService, eventId: string) {
  const [run] = await runsOf(service, eventId);
  const { status, text, body } = await service.rest("GET", `/runs/${run.id}/copy`);
  assert.equal(status, 200, text);
  const { function: id, events, steps } = body.data;
  return { run, copy: body.data, text, sent: { function: id, events, steps } };
}

/** As the page of another origin sends it, without a preflight request. */
function start(service: TestService, body: string | object, headers: Record<string, string> = {}) {
  const text = typeof body === "string" ? body : JSON.stringify(body);
  return call(`${service.url}/v1/runs`, { method: "POST", headers: { "content-type": "text/plain", ...headers }, body: text });
}

async function copiedRun(service: TestService, sent: object) {
  const { status, text, body } = await start(service, sent);
  assert.equal(status, 201, text);
  return until("the copy", async () => {
    const details = await runDetails(service, body.data.id);
    return isEnded(details) ? details : undefined;
  });
}

test("a copy goes on from the step that failed, with its events as they were", async (t) => {
  const service = await startTestService(t);
  await startApp(t, service, (inlet) => shop(inlet, [], false));
  const devServer = await startTestService(t, { mode: "dev" });
  const ran: string[] = [];
  const app = await startApp(t, devServer, (inlet) => shop(inlet, ran, false), { isDev: true });

  const event = { name: "shop/order.created", id: "order-1", ts: 1_700_000_000_000, data: { total: 1 } };
  const [eventId] = (await service.send(event)).body.ids;
  const { copy, sent, text, run } = await copyOf(service, eventId);
  assert.deepEqual([copy.runId, copy.status, copy.error], [run.id, "failed", { name: "NonRetriableError", message: "declined" }]);
  assert.deepEqual([copy.stoppedAt.name, copy.steps.map(({ name }: { name: string }) => name)], ["charge", ["label", "rest", "reserve"]]);
  assert.doesNotMatch(JSON.stringify(sent.events), /production|evt_|signkey/, "no environment or key is in it");
  assert.match(text, /"value":\{"data":"label 1"\}/);

  const there = await copiedRun(devServer, sent);
  assert.deepEqual([there.status, there.error?.message, ran], ["failed", "declined", ["charge"]], "it stops at the same step");
  await app.replace(shop(app.client, ran, true));
  const mended = await copiedRun(devServer, sent);
  assert.deepEqual(mended.output, { label: "label 1", reason: "sold out", id: "order-1", ts: event.ts });
  assert.deepEqual(ran, ["charge", "charge"], "and can be copied again");

  const ids = [];
  for (const n of [1, 2]) ids.push((await service.send({ name: "shop/sum", data: { n } })).body.ids[0]);
  const batch = await copyOf(service, ids[0]);
  assert.deepEqual([batch.copy.stoppedAt, batch.copy.steps.length, batch.copy.events.length], [null, 1, 2], "the function itself failed");
  assert.deepEqual((await copiedRun(devServer, batch.sent)).output, ["first 4", [1, 2]]);

  const link = "/approve/01ARZ3NDEKTSV4RRFFQ69G5FAV/token-of-approval-12";
  const [asked] = (await service.send({ ...event, id: "order-2", data: { link } })).body.ids;
  const withLink = await copyOf(service, asked);
  assert.ok(withLink.text.includes(link), "an admin may decide, and sees it");
  const { key } = (await service.rest("POST", "/keys", { body: { kind: "api", name: "reader", role: "viewer" } })).body.data;
  const viewed = await service.rest("GET", `/runs/${withLink.run.id}/copy`, { headers: { authorization: `Bearer ${key}` } });
  assert.deepEqual([viewed.status, viewed.text.includes("token-of-approval")], [200, false], "a copy is masked as the page is");
});

testOnce("only dev servers start copies, for their own page, and say what is wrong with one", async (t) => {
  const service = await startTestService(t);
  assert.equal(
    (await service.rest("POST", "/runs", { body: { function: "a", events: [{ name: "a", data: {} }], steps: [] } })).status,
    404,
  );

  const devServer = await startTestService(t, { mode: "dev", flags: ["--allow-origin", "https://inlet.example"] });
  const sent = { function: "shop-order", events: [{ name: "shop/order.created", data: {} }], steps: [] };
  const foreign = await start(devServer, sent, { origin: "https://evil.example" });
  assert.deepEqual([foreign.status, foreign.body.code], [403, "origin_forbidden"]);
  assert.match(foreign.body.error, /--allow-origin https:\/\/evil\.example/);
  const allowed = await start(devServer, sent, { origin: "https://inlet.example" });
  assert.deepEqual([allowed.status, allowed.body.code], [404, "function_not_found"]);
  assert.equal(allowed.headers.get("access-control-allow-origin"), "*", "the page can read why");

  await startApp(t, devServer, (inlet) => shop(inlet, [], true), { isDev: true });
  const step = { id: "a", name: "a", kind: "run", value: { data: 1 } };
  const wrong = [
    "no JSON",
    { ...sent, events: [] },
    { ...sent, events: [{ name: "", data: {} }] },
    { ...sent, steps: [{ ...step, kind: "other" }] },
    { ...sent, steps: [{ id: "a", name: "a", kind: "run" }] },
    { ...sent, environment: "production" },
    `{"function":"shop-order","events":[{"name":"a","data":${'{"a":'.repeat(2_000)}1${"}".repeat(2_000)}}],"steps":[]}`,
  ];
  for (const body of wrong) assert.equal((await start(devServer, body)).status, 400, JSON.stringify(body).slice(0, 100));
  assert.deepEqual((await devServer.rest("GET", "/events")).body.data, [], "nothing was stored");

  const large = `{"function":"shop-order","events":[{"name":"shop/order.created","data":{"n":12345678901234567890}}],"steps":[{"id":"x","name":"x","kind":"run","value":{ "data" : 12345678901234567890 }}]}`;
  const { body } = await start(devServer, large);
  const shown = await until("its end", async () => {
    const answer = await devServer.rest("GET", `/runs/${body.data.id}`);
    return isEnded(answer.body.data) ? answer : undefined;
  });
  assert.match(shown.text, /"output":\s?12345678901234567890/, "numbers keep their digits");
});

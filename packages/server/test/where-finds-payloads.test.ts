/** Finding: payload expressions, events nobody handled, runs by their error, failures in groups, and what an id names. */

import assert from "node:assert/strict";
import type { TestContext } from "node:test";
import { startApp } from "./support/app.ts";
import { test } from "./support/both-stores.ts";
import { isEnded, runsOfFunction, until } from "./support/runs.ts";
import { startTestService } from "./support/service.ts";
import { makeWebhook, post } from "./support/webhooks.ts";

test("events and runs are found by what their payload says", async (t) => {
  const { service } = await openShop(t);
  const orders = Array.from({ length: 20 }, (_, n) => ({
    name: "shop/order",
    data: { amount: n * 10, customer: { id: `c_${n % 2}` }, ...(n === 3 && { note: null }) },
    ...(n === 5 && { user: { id: 7 }, v: "2" }),
  }));
  await service.send(orders);
  const amounts = async (where: string, path = "/events") => {
    const answer = await service.rest("GET", `${path}?limit=100&where=${encodeURIComponent(where)}`);
    assert.equal(answer.status, 200, answer.text);
    return answer.body.data.length as number;
  };
  assert.equal(await amounts('data.amount > 100 && data.customer.id == "c_1"'), 5);
  assert.equal(await amounts('event.data.amount > 100 && event.data.customer.id == "c_1"'), 5);
  assert.equal(await amounts('user.id == 7 && v == "2" && name == "shop/order" && ts > 0'), 1);
  assert.equal(await amounts("name == 'shop/order' && data.missing != 1"), 20, "a missing field equals null only, as in a trigger");
  assert.equal(await amounts("name == 'shop/order' && data.note == null && user == null"), 19);
  assert.equal(await amounts("!(data.missing == 1) && data.amount < 30"), 3);
  assert.equal(await amounts("!(data.missing > 1)"), 0, "without a value an expression does not match");
  assert.equal(await amounts("data.customer > 3 || data.amount == 0"), 1, "unless the other side decides");
  await until("the runs", async () => ((await runsOfFunction(service, "shop-pay")).filter(isEnded).length === 20 ? true : undefined));
  assert.equal(await amounts("data.amount >= 150", "/runs"), 5);
  const runs = async (query: string) => (await service.rest("GET", `/runs?limit=100&${query}`)).body.data.length;
  assert.equal(await runs("error=CARD%20declined"), 10, "in any case");
  assert.equal(await runs("error=nothing%20like%20it"), 0);
  assert.equal(await runs(`error=declined&where=${encodeURIComponent("data.amount < 60")}`), 3);
  const job = await service.rest("POST", "/jobs", { body: { kind: "runs.rerun", filter: { where: "data.amount < 30" }, dryRun: true } });
  assert.equal(job.body.data.total, 3);
  for (const [where, position] of [
    ["data.amount >", 14],
    ["data.amount > 1 && nonsense == 2", 20],
  ] as const) {
    const refused = await service.rest("GET", `/events?where=${encodeURIComponent(where)}`);
    assert.deepEqual([refused.status, refused.body.code], [400, "request_invalid"]);
    assert.equal(refused.body.details[0].position, position, refused.text);
  }
});

test("a pattern that is too much work for an event does not match it, and other lists are answered", async (t) => {
  const service = await startTestService(t);
  const text = `${"ba".repeat(200_000)}c`;
  const short = Array.from({ length: 5 }, () => ({ name: "short/text", data: {} }));
  const sent = await service.send([{ name: "long/text", data: { text } }, ...short]);
  assert.equal(sent.status, 200, sent.text);
  const listed = async (query: string) => {
    const answer = await service.rest("GET", `/events?${query}`);
    assert.equal(answer.status, 200, answer.text);
    return answer.body.data.map(({ id }: { id: string }) => id);
  };
  const where = (pattern: string) => `name=long/*&where=${encodeURIComponent(`data.text.matches(${JSON.stringify(pattern)})`)}`;
  const costly = Array.from({ length: 10 }, () => listed(where("[ab]*a[ab]{1000}[cd]")));
  assert.equal((await listed("name=short/text")).length, 5);
  assert.deepEqual(new Set((await Promise.all(costly)).flat()), new Set(), "each would match, at a thousand states for each character");
  assert.deepEqual(await listed(where("c$")), [sent.body.ids[0]]);
});

test("an event counts as matched when it started a function or resumed a run, also later", async (t) => {
  const { service, app } = await openShop(t);
  const matched = async (value: boolean) =>
    (await service.rest("GET", `/events?internal=false&limit=100&matched=${value}`)).body.data
      .map(({ name }: { name: string }) => name)
      .sort();
  const send = async (...events: object[]) => {
    const { status, text } = await service.send(events);
    assert.equal(status, 200, text);
  };
  await send({ name: "shop/order", data: { amount: 20 } }, { name: "shop/lost", data: {} }, { name: "shop/wait", data: {} });
  await until("the wait", async () => ((await runsOfFunction(service, "shop-wait"))[0]?.status === "waiting" ? true : undefined));
  assert.deepEqual([await matched(false), await matched(true)], [["shop/lost"], ["shop/order", "shop/wait"]]);
  await send({ name: "shop/go", data: {} }, { name: "shop/gone", data: {} });
  assert.deepEqual(await matched(false), ["shop/gone", "shop/lost"]);
  await app.replace([app.client.createFunction({ id: "late" }, { event: "shop/lost" }, () => "found")]);
  const { body } = await service.rest("POST", "/jobs", { body: { kind: "events.replay", filter: { matched: false } } });
  await until("the job", async () => ((await service.rest("GET", `/jobs/${body.data.id}`)).body.data.endedAt ? true : undefined));
  assert.deepEqual(await matched(false), ["shop/gone"]);
});

test("failures are grouped by function and error", async (t) => {
  const { service } = await openShop(t);
  const amounts = [10, 10, 30, 50, 70, 90, 410, 410];
  await service.send(amounts.map((amount) => ({ name: "shop/order", data: { amount } })));
  await until("the runs", async () => ((await runsOfFunction(service, "shop-pay")).filter(isEnded).length === 8 ? true : undefined));
  const { data } = (await service.rest("GET", "/failures")).body;
  assert.deepEqual(
    data.map(({ function: { id }, error: { pattern }, count, runs }: never) => [id, pattern, count, (runs as string[]).length]),
    [
      ["shop-pay", "Error: card declined: *", 6, 5],
      ["shop-pay", "Error: card declined: 410", 2, 2],
    ],
  );
  assert.deepEqual([data[1].error.name, data[1].error.message], ["Error", "card declined: 410"]);
  for (const { count, error } of data) {
    const filter = { function: "shop-pay", errorPattern: error.pattern };
    const { total } = (await service.rest("POST", "/jobs", { body: { kind: "runs.rerun", filter, dryRun: true } })).body.data;
    assert.equal(total, count, "a job selects the runs of a group, and no others");
  }
  assert.ok(data[0].first <= data[0].last);
  assert.equal((await service.rest("GET", "/failures?limit=1&function=shop-pay")).body.data.length, 1);
  assert.equal((await service.rest("GET", `/failures?to=${Date.now() - 3_600_000}`)).body.data.length, 0);
});

test("an id names an event, a run, a job, a request, or what its sender called it", async (t) => {
  const { service } = await openShop(t);
  const eventId = (await service.send({ name: "shop/order", id: "order-1", data: { amount: 20 } })).body.ids[0];
  const webhook = await makeWebhook(service);
  await post(webhook.url, {});
  const [run] = await until("the run", async () => {
    const runs = await runsOfFunction(service, "shop-pay");
    return runs.length > 0 ? runs : undefined;
  });
  const request = (await service.rest("GET", `/webhooks/${webhook.id}/requests`)).body.data[0].id;
  const job = (await service.rest("POST", "/jobs", { body: { kind: "runs.rerun", filter: { status: "failed" } } })).body.data.id;
  const found = async (id: string) =>
    (await service.rest("GET", `/find?id=${encodeURIComponent(id)}`)).body.data.map(({ kind, id: of }: { kind: string; id: string }) => [
      kind,
      of,
    ]);
  assert.deepEqual(await found(eventId.toLowerCase()), [["event", eventId]]);
  assert.deepEqual(await found(run?.id ?? ""), [["run", run?.id]]);
  assert.deepEqual(await found(job), [["job", job]]);
  assert.deepEqual(await found(request), [["request", request]]);
  assert.deepEqual(await found("order-1"), [["event", eventId]]);
  assert.deepEqual(await found("nobody"), []);
});

async function openShop(t: TestContext) {
  const service = await startTestService(t, { flags: ["--retry-interval", "10ms"] });
  const app = await startApp(t, service, (inlet) => [
    inlet.createFunction({ id: "pay", retries: 0 }, { event: "shop/order" }, async ({ event }) => {
      if ((event.data.amount / 10) % 2 === 1) throw new Error(`card declined: ${event.data.amount}`);
    }),
    inlet.createFunction({ id: "wait" }, { event: "shop/wait" }, async ({ step }) => {
      await step.waitForEvent("go", { event: "shop/go", timeout: "1d" });
    }),
  ]);
  return { service, app };
}

/** Jobs: what the list with the same filter shows is worked on, each entry once, and nothing else. */

import assert from "node:assert/strict";
import type { TestContext } from "node:test";
import { startApp, type TestApp } from "./support/app.ts";
import { test } from "./support/both-stores.ts";
import { isEnded, runsOfFunction, type ShownRun, until } from "./support/runs.ts";
import { startTestService, type TestService } from "./support/service.ts";
import { ECHO, makeWebhook, post } from "./support/webhooks.ts";

interface ShownJob {
  id: string;
  status: string;
  total: number;
  done: number;
  failed: number;
  errors: { item: string | null; message: string }[];
}

async function createJob(service: TestService, body: object): Promise<ShownJob> {
  const answer = await service.rest("POST", "/jobs", { body });
  assert.equal(answer.status, 202, answer.text);
  return answer.body.data;
}

async function ended(service: TestService, { id }: ShownJob): Promise<ShownJob> {
  return until(`the end of job ${id}`, async () => {
    const { data } = (await service.rest("GET", `/jobs/${id}`)).body;
    return data.endedAt === null ? undefined : data;
  });
}

async function endedRuns(service: TestService, functionId: string, count: number): Promise<ShownRun[]> {
  return until(`${count} ended runs of ${functionId}`, async () => {
    const runs = await runsOfFunction(service, functionId);
    return runs.length >= count && runs.every(isEnded) ? runs : undefined;
  });
}

interface Shop {
  service: TestService;
  app: TestApp;
  /** Whether the card is accepted. */
  terms: { accepts: boolean };
}

async function openShop(t: TestContext, flags: string[] = []): Promise<Shop> {
  const service = await startTestService(t, { flags: ["--retry-interval", "10ms", ...flags] });
  const terms = { accepts: false };
  const app = await startApp(t, service, (inlet) => [
    inlet.createFunction({ id: "pay", retries: 0 }, { event: "shop/order" }, async ({ event }) => {
      if (!terms.accepts) throw new Error(`card declined: ${event.data.n}`);
      return event.data.n;
    }),
  ]);
  return { service, app, terms };
}

async function sendOrders({ service }: Shop, count: number): Promise<void> {
  const { status } = await service.send(Array.from({ length: count }, (_, n) => ({ name: "shop/order", data: { n } })));
  assert.equal(status, 200);
}

test("runs.rerun: failed runs are run again, each once, and say which job started them", async (t) => {
  const shop = await openShop(t);
  const { service, terms } = shop;
  await sendOrders(shop, 30);
  await endedRuns(service, "shop-pay", 30);
  const filter = { status: "failed", function: "shop-pay" };
  const dry = await service.rest("POST", "/jobs", { body: { kind: "runs.rerun", filter, dryRun: true } });
  assert.equal(dry.status, 200);
  assert.equal(dry.body.data.total, 30);
  assert.deepEqual([dry.body.data.samples.length, dry.body.data.samples[0].status], [5, "failed"]);
  assert.match(dry.body.data.samples[0].error.message, /card declined/);
  assert.equal((await service.rest("GET", "/jobs")).body.data.length, 0, "a dry run leaves nothing");
  const ids = dry.body.data.samples.map(({ id }: { id: string }) => id).slice(0, 2);
  const named = await service.rest("POST", "/jobs", { body: { kind: "runs.rerun", filter: { run: ids.join(",") }, dryRun: true } });
  assert.deepEqual(
    named.body.data.samples.map(({ id }: { id: string }) => id),
    ids,
    "runs can be named one by one",
  );

  terms.accepts = true;
  const job = await createJob(service, { kind: "runs.rerun", filter, rate: 1_000 });
  assert.equal(job.total, 30);
  const done = await ended(service, job);
  assert.deepEqual([done.status, done.done, done.failed, done.errors], ["completed", 30, 0, []]);
  const runs = await endedRuns(service, "shop-pay", 60);
  const started = runs.filter((run) => (run as ShownRun & { job: string | null }).job === job.id);
  assert.equal(started.length, 30);
  assert.equal(new Set(started.map(({ originalRunId }) => originalRunId)).size, 30, "no run was repeated twice");
  assert.ok(started.every(({ status }) => status === "completed"));
  const listed = await service.rest("GET", `/runs?job=${job.id}&limit=100`);
  assert.equal(listed.body.data.length, 30);
  const audited = (await service.rest("GET", "/audit-log?action=job.*")).body.data;
  assert.deepEqual([audited.length, audited[0].action, audited[0].target.id], [1, "job.created", job.id]);
});

test("runs.cancel: what goes on is cancelled; what had ended counts as failed and is named", async (t) => {
  const { service, app, terms } = await openShop(t);
  terms.accepts = true;
  await app.replace([
    app.client.createFunction({ id: "wait" }, { event: "shop/order" }, async ({ event, step }) => {
      if (event.data.n > 0) await step.sleep("long", "1d");
    }),
  ]);
  await service.send(Array.from({ length: 4 }, (_, n) => ({ name: "shop/order", data: { n } })));
  await until("three sleeping runs", async () => {
    const runs = await runsOfFunction(service, "shop-wait");
    return runs.filter(({ status }) => status === "sleeping").length === 3 && runs.some(isEnded) ? true : undefined;
  });
  const job = await ended(service, await createJob(service, { kind: "runs.cancel", filter: { function: "shop-wait" } }));
  assert.deepEqual([job.status, job.total, job.done, job.failed, job.errors.length], ["completed", 4, 4, 1, 1]);
  assert.match(job.errors[0]?.message ?? "", /completed/);
  const runs = await runsOfFunction(service, "shop-wait");
  assert.equal(runs.filter(({ status }) => status === "cancelled").length, 3);
  assert.equal(job.errors[0]?.item, runs.find(({ status }) => status === "completed")?.id);
});

test("events.replay: a function that subscribed late gets what it missed, by its conditions, and no event is stored again", async (t) => {
  const shop = await openShop(t);
  const { service, app, terms } = shop;
  terms.accepts = true;
  await sendOrders(shop, 10);
  await endedRuns(service, "shop-pay", 10);
  await app.replace([
    app.client.createFunction({ id: "pay" }, { event: "shop/order" }, async () => "paid"),
    app.client.createFunction({ id: "late" }, { event: "shop/order", if: "event.data.n >= 6" }, async ({ event }) => event.data.n),
    app.client.createFunction({ id: "waiter" }, { event: "shop/wait" }, async ({ step }) =>
      step.waitForEvent("order", { event: "shop/order", timeout: "1d" }),
    ),
  ]);
  await service.send({ name: "shop/wait", data: {} });
  await until("a waiting run", async () => ((await runsOfFunction(service, "shop-waiter"))[0]?.status === "waiting" ? true : undefined));
  const filter = { name: "shop/order" };
  const job = await ended(service, await createJob(service, { kind: "events.replay", filter, function: "shop-late" }));
  assert.deepEqual([job.status, job.total, job.done], ["completed", 10, 10]);
  const late = await endedRuns(service, "shop-late", 4);
  assert.equal(late.length, 4);
  assert.equal((await runsOfFunction(service, "shop-pay")).length, 10, "only the function that was named");
  assert.equal((await runsOfFunction(service, "shop-waiter"))[0]?.status, "waiting", "no wait is resumed");
  assert.equal((await service.rest("GET", "/events?name=shop/order&limit=100")).body.data.length, 10);
  await ended(service, await createJob(service, { kind: "events.replay", filter }));
  assert.deepEqual(
    [(await endedRuns(service, "shop-pay", 20)).length, (await endedRuns(service, "shop-late", 8)).length],
    [20, 8],
    "without a function, everybody who subscribes now",
  );
});

test("requests.replay: recorded requests go through the current transform", async (t) => {
  const service = await startTestService(t);
  const webhook = await makeWebhook(service, "function transform() { throw new Error('not yet'); }");
  for (let n = 0; n < 5; n++) await post(webhook.url, { name: "hook/made", data: { n } });
  await service.rest("PUT", `/webhooks/${webhook.id}`, { body: { transform: ECHO } });
  const filter = { webhook: webhook.id, outcome: "transform_failed" };
  const job = await ended(service, await createJob(service, { kind: "requests.replay", filter }));
  assert.deepEqual([job.status, job.total, job.done, job.failed], ["completed", 5, 5, 0]);
  const events = (await service.rest("GET", "/events?name=hook/received")).body.data;
  assert.deepEqual(events.map(({ data }: { data: { evt: { data: { n: number } } } }) => data.evt.data.n).sort(), [0, 1, 2, 3, 4]);
});

test("a job can be cancelled, is limited in rate, and knows only what was there when it was made", async (t) => {
  const shop = await openShop(t);
  const { service, terms } = shop;
  terms.accepts = true;
  await sendOrders(shop, 60);
  const job = await createJob(service, { kind: "events.replay", filter: { name: "shop/*" }, rate: 1 });
  await sendOrders(shop, 3);
  const half = await until("some items done", async () => {
    const { data } = (await service.rest("GET", `/jobs/${job.id}`)).body;
    return data.done >= 2 ? data : undefined;
  });
  assert.equal(half.total, 60);
  const cancelled = await service.rest("POST", `/jobs/${job.id}/cancel`);
  assert.deepEqual([cancelled.status, cancelled.body.data.status], [200, "cancelled"]);
  assert.ok(cancelled.body.data.done < 60, "sixty items at one a second take a minute");
  assert.deepEqual((await service.rest("POST", `/jobs/${job.id}/cancel`)).body.code, "job_ended");
  const started = (await service.rest("GET", `/runs?job=${job.id}&limit=100`)).body.data.length;
  assert.equal(started, cancelled.body.data.done, "every item that counts as done, and no other, was started");
});

test("a job over a long list can be cancelled while its items are found, and one that is left alone finds each that was there", async (t) => {
  const service = await startTestService(t);
  const [name, pages] = ["filler/sent", 4];
  const send = () => service.send(Array.from({ length: 5_000 }, (_, n) => ({ name, data: { n } })));
  for (let page = 0; page < pages; page++) assert.equal((await send()).status, 200);
  const body = { kind: "events.replay", filter: { name }, rate: 1 };
  const orders: Promise<ShownJob>[] = [];
  const order = async () => {
    orders.push(createJob(service, body));
    return until(`${orders.length} jobs`, async () => {
      const { data } = (await service.rest("GET", "/jobs")).body;
      return data.length === orders.length ? (data[0] as ShownJob) : undefined;
    });
  };
  // Tried again if all items were found before the job was seen.
  const cancelled = await until("a job whose items are being found", async () => {
    const { id } = await order();
    const { data } = (await service.rest("POST", `/jobs/${id}/cancel`)).body;
    return data.status === "cancelled" && data.total < pages * 5_000 ? (data as ShownJob) : undefined;
  });
  assert.ok(cancelled.total > 0 && cancelled.done === 0, JSON.stringify(cancelled));
  await order();
  await send();
  const [shown, second] = (await Promise.all(orders)).slice(-2) as [ShownJob, ShownJob];
  assert.deepEqual([shown.status, shown.total], ["cancelled", cancelled.total]);
  const fixed = await until("all items", async () => {
    const { data } = (await service.rest("GET", `/jobs/${second.id}`)).body;
    return data.status === "running" ? (data as ShownJob) : undefined;
  });
  assert.equal(fixed.total, pages * 5_000, "not those that were sent later");
  assert.equal((await service.rest("POST", `/jobs/${second.id}/cancel`)).status, 200);
});

test("what is asked of a job is checked", async (t) => {
  const service = await startTestService(t);
  const cases: [object, string][] = [
    [{ kind: "runs.rerun" }, "filter"],
    [{ kind: "runs.rerun", filter: {} }, "filter"],
    [{ kind: "runs.rerun", filter: { nmae: "x" } }, "filter.nmae"],
    [{ kind: "runs.rerun", filter: { status: "broken" } }, "filter.status"],
    [{ kind: "runs.rerun", filter: { from: "yesterday" } }, "from"],
    [{ kind: "runs.rerun", filter: { run: "01J,01K" } }, "filter.run"],
    [{ kind: "runs.rerun", filter: { status: "failed" }, function: "x" }, "function"],
    [{ kind: "runs.rerun", filter: { status: "failed" }, rate: 0 }, "rate"],
    [{ kind: "runs.explode", filter: { status: "failed" } }, "kind"],
    [{ kind: "requests.replay", filter: { outcome: "accepted" } }, "filter.webhook"],
    [{ kind: "requests.replay", filter: {}, all: true }, "filter.webhook"],
  ];
  for (const [body, field] of cases) {
    const answer = await service.rest("POST", "/jobs", { body });
    assert.equal(answer.status, 400, JSON.stringify(body));
    assert.equal(answer.body.code, "request_invalid");
    assert.equal(answer.body.details[0].field, field, answer.text);
  }
  const unknown = await service.rest("POST", "/jobs", { body: { kind: "events.replay", filter: { name: "x" }, function: "gone" } });
  assert.deepEqual([unknown.status, unknown.body.code], [404, "function_not_found"]);
  const all = await service.rest("POST", "/jobs", { body: { kind: "runs.rerun", filter: {}, all: true } });
  assert.deepEqual([all.status, all.body.data.status, all.body.data.total], [202, "completed", 0]);
  assert.equal((await service.rest("GET", "/jobs/01ARZ3NDEKTSV4RRFFQ69G5FAV")).body.code, "job_not_found");
});

test("a role below operator may look at jobs only", async (t) => {
  const service = await startTestService(t);
  const headersOf = async (role: string) => {
    const made = await service.rest("POST", "/keys", { body: { kind: "api", name: role, role } });
    return { authorization: `Bearer ${made.body.data.key}` };
  };
  const headers = await headersOf("viewer");
  assert.equal((await service.rest("GET", "/jobs", { headers })).status, 200);
  const refused = await service.rest("POST", "/jobs", { headers, body: { kind: "runs.rerun", filter: { status: "failed" } } });
  assert.deepEqual([refused.status, refused.body.code], [403, "role_forbidden"]);
  const body = { kind: "runs.rerun", filter: { status: "failed" } };
  assert.equal((await service.rest("POST", "/jobs", { headers: await headersOf("operator"), body })).status, 202);
});

/** `GET /v1/usage` and the quota on calls: what each environment, key, webhook and function used, and what waits. */

import assert from "node:assert/strict";
import { startApp } from "./support/app.ts";
import { awayFromMidnight } from "./support/away-from-midnight.ts";
import { test } from "./support/both-stores.ts";
import { onEnd } from "./support/on-end.ts";
import { until } from "./support/runs.ts";
import { call, startTestService, type TestService } from "./support/service.ts";
import { makeWebhook, post } from "./support/webhooks.ts";

type Entry = Record<string, string | number>;

async function usageOf(service: TestService, query = "", headers: Record<string, string> = {}): Promise<Entry[]> {
  const { status, body, text } = await service.rest("GET", `/usage?${query}`, { headers });
  assert.equal(status, 200, text);
  return body.data;
}

const figures = ({ eventsAccepted, eventsDuplicate, eventsRefused, bytes, runs, calls }: Entry) => [
  eventsAccepted,
  eventsDuplicate,
  eventsRefused,
  bytes,
  runs,
  calls,
];

/** One row for each subject, with its sums. */
function sumsBy(subject: string, rows: readonly Entry[]): Entry[] {
  const sums = new Map<string, Entry>();
  for (const row of rows) {
    const of = String(row[subject]);
    const sum = sums.get(of) ?? {};
    const added = Object.entries(row).map(([name, value]) => [name, typeof value === "number" ? Number(sum[name] ?? 0) + value : value]);
    sums.set(of, Object.fromEntries(added));
  }
  return [...sums.values()];
}

test("usage is exact at once, by environment, key, webhook and function, as JSON and CSV", async (t) => {
  await awayFromMidnight();
  const service = await startTestService(t);
  await service.rest("POST", "/environments", { body: { name: "staging", kind: "custom" } });
  const made = await service.rest("POST", "/keys", { body: { kind: "event", name: '=cmd,"x"', environment: "production" } });
  await startApp(t, service, (inlet) => [
    inlet.createFunction({ id: "work" }, { event: "shop/order" }, async ({ step }) => {
      await step.run("one", () => 1);
    }),
  ]);
  const first = JSON.stringify([
    { name: "shop/order", data: {}, id: "a" },
    { name: "shop/order", data: {}, id: "a" },
  ]);
  const second = JSON.stringify({ name: "shop/other", data: {} });
  assert.equal((await service.send(first)).status, 200);
  const [exact] = await usageOf(service);
  assert.deepEqual([exact?.eventsAccepted, exact?.eventsDuplicate, exact?.bytes, exact?.runs], [1, 1, first.length, 1]);
  await service.send(second, { key: made.body.data.key });
  await service.send(first);
  await service.send("no json", { key: made.body.data.key });
  const webhook = await makeWebhook(service);
  await post(webhook.url, "{}");
  await service.rest("POST", "/events", { body: { name: "shop/staged", data: {} }, headers: { "x-service-env": "staging" } });
  await until("the call is counted", async () => Number((await usageOf(service))[0]?.calls) >= 1 || undefined);

  const all = await usageOf(service);
  const [production, staging] = all;
  assert.deepEqual([all.length, production?.environment, production?.name, staging?.name], [2, "production", "production", "staging"]);
  assert.match(String(production?.at), /T00:00:00\.000Z$/);
  assert.deepEqual(figures(production ?? {}).slice(0, 5), [3, 3, 1, first.length + second.length + 2, 1]);
  assert.equal(staging?.eventsAccepted, 1);

  // An hour may begin while this goes on: a key has then two rows.
  const byKey = sumsBy("key", await usageOf(service, "by=key&interval=hour", { "x-service-env": "production" }));
  const named = byKey.find(({ key }) => key === made.body.data.id);
  assert.deepEqual([named?.name, named?.eventsAccepted, named?.eventsRefused, named?.bytes], ['=cmd,"x"', 1, 1, second.length]);
  const usual = byKey.find(({ key }) => key !== made.body.data.id);
  assert.deepEqual([usual?.eventsAccepted, usual?.eventsDuplicate, usual?.runs], [1, 3, 1]);
  const [hook] = await usageOf(service, "by=webhook");
  assert.deepEqual([hook?.webhook, hook?.name, hook?.eventsAccepted, hook?.bytes], [webhook.id, "test hook", 1, 2]);
  const [work] = await usageOf(service, "by=function");
  assert.deepEqual([work?.function, work?.runs], ["shop-work", 1]);
  assert.ok(Number(work?.calls) >= 1);

  const csv = await service.rest("GET", "/usage?by=key", { headers: { accept: "text/csv", "x-service-env": "production" } });
  assert.match(csv.headers.get("content-type") ?? "", /^text\/csv/);
  const lines = csv.text.trimEnd().split("\r\n");
  assert.equal(lines[0], "at,key,environment,name,eventsAccepted,eventsDuplicate,eventsRefused,bytes,runs,calls,transformMs");
  assert.ok(
    lines.some((line) => line.includes('"\'=cmd,""x"""')),
    csv.text,
  );
  assert.equal(lines.length, 3);

  const limited = await service.rest("POST", "/keys", { body: { kind: "api", name: "s", role: "admin", environments: ["staging"] } });
  const authorization = `Bearer ${limited.body.data.key}`;
  assert.deepEqual(
    (await usageOf(service, "", { authorization })).map(({ environment }) => environment),
    ["staging"],
  );
  const statusOf = async (query: string, headers: Record<string, string>) =>
    (await service.rest("GET", `/usage?${query}`, { headers })).status;
  assert.equal(await statusOf("", { authorization, "x-service-env": "production" }), 403);
  assert.equal(await statusOf("", { "x-service-env": "nowhere" }), 404);
  assert.equal(await statusOf("by=person", {}), 400);
  assert.equal(await statusOf("from=2000-01-01T00:00:00Z", {}), 400);
  assert.deepEqual(await usageOf(service, "from=2001-01-01T00:00:00Z&to=2001-02-01T00:00:00Z"), []);

  const shared = await makeWebhook(service, undefined, {}, { "x-service-env": "branch" });
  assert.equal((await post(shared.url, "{}")).status, 200);
  const [undelivered] = await usageOf(service, "by=webhook", { "x-service-env": "branch" });
  assert.deepEqual([undelivered?.webhook, undelivered?.environment, undelivered?.eventsAccepted], [shared.id, "branch", 1]);
  assert.equal((await usageOf(service)).filter(({ environment }) => environment === "branch").length, 1);
  const seen = (await usageOf(service, "", { authorization })).map(({ environment }) => environment);
  assert.deepEqual(seen, ["staging"], "what branches share is not for a key of one environment");
  const own = await service.rest("GET", "/environments/staging", { headers: { authorization } });
  assert.equal(own.body.data.usage.eventsPerDay, 1, "an environment's admin sees its usage");
  const set = await service.rest("PUT", "/environments/staging", { headers: { authorization }, body: { quotas: { eventsPerDay: 1 } } });
  assert.equal(set.status, 403, "and does not set its quotas");
  const metrics = await call(`${service.url}/metrics`, { headers: { authorization: `Bearer ${made.body.data.key}` } });
  assert.equal(metrics.status, 401);
  const read = await call(`${service.url}/metrics`, { headers: { authorization } });
  assert.match(read.text, /^inlet_usage_events_accepted\{environment="staging"\} 1$/m);
  assert.doesNotMatch(read.text, /environment="production"/);
});

test("calls beyond callsAtOnce wait, of all functions together, from the moment it is set", async (t) => {
  const service = await startTestService(t);
  let [now, most, ended] = [0, 0, 0];
  const gate = Promise.withResolvers<void>();
  onEnd(t, async () => gate.resolve());
  const busy = async () => {
    most = Math.max(most, ++now);
    await gate.promise;
    now--;
    ended++;
  };
  await startApp(t, service, (inlet) => [
    inlet.createFunction({ id: "one" }, { event: "shop/busy" }, busy),
    inlet.createFunction({ id: "two", concurrency: 5 }, { event: "shop/busy" }, busy),
  ]);
  const setCalls = (callsAtOnce: number | null) => service.rest("PUT", "/environments/production", { body: { quotas: { callsAtOnce } } });
  assert.equal((await setCalls(2)).status, 200);
  await service.send(Array(4).fill({ name: "shop/busy", data: {} }));
  await until("two calls", () => (now === 2 ? true : undefined));
  const { body } = await service.rest("GET", "/environments/production");
  assert.equal(body.data.usage.callsAtOnce, 2);
  await setCalls(4);
  await until("four calls", () => (now === 4 ? true : undefined));
  gate.resolve();
  await until("all", () => (ended === 8 ? true : undefined));
  assert.equal(most, 4);
});

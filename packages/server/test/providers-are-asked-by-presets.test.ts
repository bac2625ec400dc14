/** Presets of reconciliation ask providers as their documentation says, and passes come by themselves, also from before a downtime. */

import assert from "node:assert/strict";
import { readProviderTransform } from "@inlet/providers";
import { test } from "./support/both-stores.ts";
import { type Asked, type ProviderResponse, pagesOf, sourceOf, startProvider } from "./support/provider.ts";
import { until } from "./support/runs.ts";
import { startTestService, type TestService, temporaryFolder } from "./support/service.ts";
import { makeWebhook, post, type TestWebhook } from "./support/webhooks.ts";

const SINCE = "2026-01-01T00:00:00.000Z";
const UNTIL = "2026-01-02T00:00:00.000Z";
const KEY = "a-key-of-the-provider";

async function passOf(service: TestService, { id }: TestWebhook) {
  const { body, status } = await service.rest("POST", `/webhooks/${id}/reconcile`, { body: { since: SINCE, until: UNTIL } });
  assert.equal(status, 202, JSON.stringify(body));
  await until("the end of the pass", async () =>
    (await service.rest("GET", `/jobs/${body.data.id}`)).body.data.endedAt ? true : undefined,
  );
  const [{ listed, seen, recovered, failed, error }] = (await service.rest("GET", `/webhooks/${id}/reconciliations`)).body.data;
  return [listed, seen, recovered, failed, error];
}

const link = (provider: { url: string }, query: string) => ({ link: `<${provider.url}/elsewhere?${query}>; rel="next"` });

test("presets ask as the provider's documentation says, and know what the starter transforms received", async (t) => {
  const service = await startTestService(t, {});
  const answers: Record<string, (asked: Asked) => ProviderResponse> = {
    "/v1/events": ({ url, headers }) => {
      assert.equal(headers.authorization, `Bearer ${KEY}`);
      assert.equal(url.searchParams.get("created[gte]"), String(Date.parse(SINCE) / 1_000));
      assert.deepEqual(url.searchParams.getAll("types[]"), ["invoice.paid"]);
      const isFirst = url.searchParams.get("starting_after") === null;
      const event = (id: string) => ({ id, type: "invoice.paid", created: 1_767_225_600, data: {} });
      if (!isFirst) assert.equal(url.searchParams.get("starting_after"), "evt_2");
      return {
        body: { data: isFirst ? [event("evt_3"), event("evt_2")] : [event("evt_1"), { id: "evt_0", type: "other" }], has_more: isFirst },
      };
    },
    "/repos/acme/shop/hooks/7/deliveries": ({ url, headers }) => {
      assert.equal(headers.authorization, `Bearer ${KEY}`);
      const one = (id: number, guid: string, delivered_at: string) => ({ id, guid, delivered_at });
      if (url.searchParams.get("cursor") === null) {
        const body = [one(3, "g3", "2026-01-01T03:00:00Z"), one(2, "g2", "2026-01-01T02:00:00Z"), one(4, "late", "2026-01-05T00:00:00Z")];
        return { body, headers: link(provider, "per_page=100&cursor=v1_2") };
      }
      return { body: [one(1, "g1", "2026-01-01T01:00:00Z"), one(0, "g0", "2025-12-31T00:00:00Z")], headers: link(provider, "cursor=v1_3") };
    },
    "/admin/api/2025-01/orders.json": ({ url, headers }) => {
      assert.equal(headers["x-shopify-access-token"], KEY);
      const isFirst = url.searchParams.get("page_info") === null;
      if (isFirst) assert.deepEqual([url.searchParams.get("updated_at_min"), url.searchParams.get("status")], [SINCE, "any"]);
      else assert.deepEqual([url.searchParams.get("page_info"), url.searchParams.has("updated_at_min")], ["p2", false]);
      const orders = [{ id: isFirst ? 1 : 2, created_at: "2025-12-30", updated_at: "2026-01-01" }];
      return isFirst ? { body: { orders }, headers: link(provider, "limit=50&page_info=p2") } : { body: { orders } };
    },
    "/admin/api/2025-01/products.json": () => ({ body: { products: [{ id: 9, created_at: "2026-01-01", updated_at: "2026-01-01" }] } }),
    "/v2/events": ({ method, body }) => {
      const { query, cursor } = JSON.parse(body);
      assert.deepEqual([method, query.filter.created_at], ["POST", { start_at: SINCE, end_at: UNTIL }]);
      assert.deepEqual(query.filter.event_types, ["payment.updated"]);
      const event = { event_id: cursor ?? "first", type: "payment.updated", created_at: SINCE };
      return { body: { events: [event], ...(cursor === undefined && { cursor: "second" }) } };
    },
    "/events": ({ url }) => {
      const after = url.searchParams.get("after");
      assert.deepEqual(url.searchParams.getAll("events[]"), ["user.created", "user.updated"]);
      assert.equal(url.searchParams.get("range_start"), after === null ? SINCE : null);
      const event = { id: `event_${after ?? "1"}`, event: "user.created", created_at: SINCE, data: {} };
      return { body: { data: [event], list_metadata: { after: after === null ? "2" : null } } };
    },
  };
  const provider = await startProvider(t, (asked) => {
    const { pathname } = asked.url;
    const delivery = /^\/repos\/acme\/shop\/hooks\/7\/deliveries\/(\d)$/.exec(pathname);
    if (delivery) {
      const headers = { "X-GitHub-Event": "push", "X-GitHub-Delivery": `g${delivery[1]}`, "content-type": "application/json" };
      return { body: { id: Number(delivery[1]), guid: `g${delivery[1]}`, request: { headers, payload: { ref: "main" } } } };
    }
    return answers[pathname]?.(asked) ?? { status: 404, body: { message: "not here" } };
  });
  const make = async (preset: string, more: object = {}) =>
    makeWebhook(service, await readProviderTransform(preset), { reconcile: { preset, secrets: [KEY], baseUrl: provider.url, ...more } });

  const stripe = await make("stripe", { events: ["invoice.paid"] });
  assert.equal((await post(stripe.url, { id: "evt_2", type: "invoice.paid", created: 1, data: {} })).status, 200);
  assert.deepEqual(await passOf(service, stripe), [3, 1, 2, 0, null]);

  const github = await make("github", { repository: "acme/shop", hook: "7" });
  assert.equal((await post(github.url, { ref: "main" }, { "x-github-event": "push", "x-github-delivery": "g2" })).status, 200);
  assert.deepEqual(await passOf(service, github), [3, 1, 2, 0, null]);
  const payloads = () => provider.asked.filter(({ url }) => /deliveries\/\d$/.test(url.pathname)).length;
  assert.equal(payloads(), 2, "what is known is not asked for");
  assert.deepEqual(await passOf(service, github), [3, 3, 0, 0, null]);
  assert.equal(payloads(), 2);

  const shopify = await make("shopify", { shop: "acme.myshopify.com", resources: ["orders", "products"] });
  const order = { id: 2, created_at: "2025-12-30", updated_at: "2026-01-01" };
  assert.equal((await post(shopify.url, order, { "x-shopify-topic": "orders/updated", "x-shopify-event-id": "e" })).status, 200);
  assert.deepEqual(await passOf(service, shopify), [3, 1, 2, 0, null]);
  const { body } = await service.rest("GET", "/events?name=shopify/products.create");
  assert.deepEqual([body.data.length, body.data[0]?.data.shop], [1, "acme.myshopify.com"]);

  assert.deepEqual(await passOf(service, await make("square", { events: ["payment.updated"] })), [2, 0, 2, 0, null]);
  assert.deepEqual(await passOf(service, await make("workos", { events: ["user.created", "user.updated"] })), [2, 0, 2, 0, null]);

  answers["/v1/events"] = () => ({ status: 401, body: `wrong key ${KEY}` });
  const [, , , , error] = await passOf(service, stripe);
  assert.match(String(error), /status 401: wrong key \*\*\*/);
});

test("passes come by themselves, the first one after a downtime from before it, and alerts count what was missed", async (t) => {
  const dataDir = temporaryFolder(t);
  let aheadMs = 0;
  const now = () => Date.now() + aheadMs;
  const provider = await startProvider(t, pagesOf([{ id: "one" }, { id: "two" }], 1));
  let service = await startTestService(t, { dataDir, now });
  const reconcile = { source: sourceOf(provider), every: "10m", lookBack: "1h" };
  const setAt = now();
  const webhook = await makeWebhook(service, "(evt) => ({ name: 'shop/sale', id: evt.id, data: evt })", { reconcile });
  const rule = { name: "missed", kind: "missed_webhooks", threshold: 2, windowSeconds: 86_400 };
  assert.equal((await service.rest("POST", "/alert-rules", { body: rule })).status, 201);
  const passes = async (count: number) =>
    until(`${count} passes`, async () => {
      const { data } = (await service.rest("GET", `/webhooks/${webhook.id}/reconciliations`)).body;
      return data.length >= count ? data : undefined;
    });
  aheadMs += 11 * 60_000;
  const [first] = await passes(1);
  const [since, end] = [Date.parse(first.since), Date.parse(first.until)];
  assert.ok(end >= setAt + 600_000, "one `every` after it was set");
  assert.equal(end - since, 3_600_000, "lookBack before its start");
  assert.deepEqual([first.listed, first.recovered, first.scheduled], [2, 2, true]);
  assert.equal(provider.asked[0]?.url.searchParams.get("since"), first.since);
  const asked = await service.rest("POST", `/webhooks/${webhook.id}/reconcile`, { body: { since: SINCE } });
  const jobs = async (query: string) => (await service.rest("GET", `/jobs${query}`)).body.data.map(({ id }: { id: string }) => id);
  const all = [asked.body.data.id, first.job];
  assert.deepEqual([await jobs(""), await jobs("?scheduled=false"), await jobs("?scheduled=true")], [all, all.slice(0, 1), all.slice(1)]);
  await passes(2);
  await until("the alert", async () => ((await service.rest("GET", "/alerts")).body.data[0]?.value === 2 ? true : undefined));

  await service.stop();
  aheadMs += 5 * 3_600_000;
  service = await startTestService(t, { dataDir, now });
  const [second] = await passes(3);
  const early = end - 3_600_000 - Date.parse(second.since);
  assert.ok(Math.abs(early) < 300_000, `lookBack before the last pass, so that the downtime is covered, but ${early} ms earlier`);
  assert.deepEqual([second.listed, second.seen], [2, 2]);
  assert.ok(Date.parse(second.until) >= end + 5 * 3_600_000);
});

/** Reconciliation: what a provider lists and never delivered is taken in once, marked, and everything else is left alone. */

import assert from "node:assert/strict";
import { test as testOnSqlite } from "node:test";
import { test } from "./support/both-stores.ts";
import { type Asked, type ProviderResponse, pagesOf, sourceOf, startProvider } from "./support/provider.ts";
import { until } from "./support/runs.ts";
import { startTestService, type TestService } from "./support/service.ts";
import { makeWebhook, post, requestsOf, type TestWebhook } from "./support/webhooks.ts";

const BY_EVENT_ID = "(evt) => { if (evt.bad) throw new Error('bad one'); return { name: 'shop/sale', id: evt.id, data: evt }; }";
const WITHOUT_ID = "(evt) => ({ name: 'shop/sale', data: evt })";
const SINCE = "2020-01-01T00:00:00Z";
const SECRET = "sk_live_0123456789";
/** On a busy machine, for a thousand pages, one after the other. */
const MANY_PAGES_MS = 500_000;
/** Less than the provider asks to wait. */
const PROMPT_MS = 25_000;
/** Jobs that a node works on at once, beside reconciliations. */
const AT_ONCE_MAX = 4;
/** More than reconciliations have slots. */
const WAITING = 10;

interface ShownJob {
  id: string;
  kind: string;
  status: string;
  total: number;
  done: number;
  failed: number;
  errors: { item: string | null; message: string }[];
}

const counts = ({ listed, seen, recovered, failed }: Record<string, number>) => [listed, seen, recovered, failed];

async function order(service: TestService, { id }: TestWebhook, body: object = {}): Promise<ShownJob> {
  const answer = await service.rest("POST", `/webhooks/${id}/reconcile`, { body: { since: SINCE, ...body } });
  assert.equal(answer.status, 202, answer.text);
  return answer.body.data;
}

function ended(service: TestService, { id }: ShownJob, deadlineMs?: number): Promise<ShownJob> {
  const look = async () => {
    const { data } = (await service.rest("GET", `/jobs/${id}`)).body;
    return data.endedAt === null ? undefined : data;
  };
  return until(`the end of job ${id}`, look, deadlineMs);
}

async function passesOf(service: TestService, { id }: TestWebhook) {
  const { status, body } = await service.rest("GET", `/webhooks/${id}/reconciliations`);
  assert.equal(status, 200);
  return body.data;
}

/** The last pass, once the job has ended. */
async function passOf(service: TestService, webhook: TestWebhook) {
  await ended(service, await order(service, webhook));
  return (await passesOf(service, webhook))[0];
}

async function eventsOf(service: TestService, name = "shop/sale") {
  const events: Record<string, unknown>[] = [];
  for (let cursor = ""; ; ) {
    const { body } = await service.rest("GET", `/events?name=${name}&limit=100${cursor && `&cursor=${cursor}`}`);
    events.push(...body.data);
    if (body.page.next === null) return events;
    cursor = body.page.next;
  }
}

test("what was never delivered is recovered once, marked on record and event, and can be replayed although it has no signature", async (t) => {
  const service = await startTestService(t, {});
  const items = Array.from({ length: 12 }, (_, n) => ({ id: `sale-${n}`, own: `own-${n}`, ...(n === 7 && { bad: true }) }));
  // It doubles and reorders.
  const provider = await startProvider(t, pagesOf([items[3], ...items, items[9], items[9]], 4));
  const verify = { scheme: "header", header: "x-secret", secrets: ["a-secret-of-the-webhook"] };
  const reconcile = { source: sourceOf(provider), secrets: [SECRET], every: "5400s", lookBack: "1500m" };
  const webhook = await makeWebhook(service, BY_EVENT_ID, { verify, reconcile, ips: { mode: "allow", list: ["127.0.0.1"] } });
  for (const item of items.slice(0, 5)) {
    assert.equal((await post(webhook.url, item, { "x-secret": "a-secret-of-the-webhook" })).status, 200);
  }

  const dry = await service.rest("POST", `/webhooks/${webhook.id}/reconcile`, { body: { since: SINCE, dryRun: true } });
  assert.deepEqual([dry.status, dry.body], [200, { data: { listed: 15, seen: 8, recovered: 6, failed: 1 } }]);
  assert.equal((await eventsOf(service)).length, 5, "a dry run stores nothing");
  assert.deepEqual(await passesOf(service, webhook), []);

  const ordered = await order(service, webhook);
  assert.deepEqual([ordered.kind, ordered.total, ordered.done], ["webhooks.reconcile", 0, 0]);
  const job = await ended(service, ordered);
  assert.deepEqual([job.status, job.total, job.done, job.failed], ["completed", 15, 15, 1]);
  assert.deepEqual([job.errors.length, job.errors[0]?.item], [1, "own-7"]);
  assert.match(job.errors[0]?.message ?? "", /bad one/);
  const [pass] = await passesOf(service, webhook);
  assert.deepEqual([counts(pass), pass.error, pass.since], [[15, 8, 6, 1], null, "2020-01-01T00:00:00.000Z"]);

  const events = await eventsOf(service);
  assert.deepEqual(
    events.map(({ dedupId }) => dedupId).sort(),
    items
      .filter(({ bad }) => !bad)
      .map(({ id }) => id)
      .sort(),
  );
  const recovered = events.filter(({ reconciled }) => reconciled === true).map(({ dedupId }) => dedupId);
  assert.deepEqual(recovered.sort(), ["sale-10", "sale-11", "sale-5", "sale-6", "sale-8", "sale-9"]);
  const found = await service.rest("GET", `/events?source=${webhook.id}&limit=100`);
  assert.deepEqual(new Set(found.body.data.map(({ source }: { source: { id: string } }) => source.id)), new Set([webhook.id]));
  assert.equal(found.body.data.length, 11, "those that were found in the list have the same source");
  const records = await requestsOf(service, webhook, "limit=100");
  assert.equal(records.filter(({ reconciled }: { reconciled?: boolean }) => reconciled === true).length, 7);
  const record = records.find(({ reconciled, outcome }: Record<string, unknown>) => reconciled && outcome === "accepted");
  assert.equal((await service.rest("POST", `/webhooks/${webhook.id}/requests/${record.id}/replay`)).status, 201);
  assert.equal((await service.rest("POST", `/webhooks/${webhook.id}/test`, { body: { requestId: record.id } })).body.data.ok, true);

  assert.deepEqual(counts(await passOf(service, webhook)), [15, 14, 0, 1], "everything is there");
  assert.equal((await requestsOf(service, webhook, "limit=100&outcome=transform_failed")).length, 1, "a refusal is recorded once");
  const shown = await service.rest("GET", `/webhooks/${webhook.id}`);
  const { secrets, every, lookBack } = shown.body.data.reconcile;
  assert.deepEqual([secrets, every, lookBack], [[{ last4: "6789" }], "5400s", "1500m"]);
  assert.equal(provider.asked[0]?.headers.authorization, `Bearer ${SECRET}`);
  for (const path of [`/webhooks/${webhook.id}`, `/webhooks/${webhook.id}/requests`, "/jobs", "/audit-log"]) {
    assert.equal((await service.rest("GET", path)).text.includes(SECRET), false, path);
  }
  await service.rest("PUT", `/webhooks/${webhook.id}`, { body: { reconcile: null } });
  assert.equal((await passesOf(service, webhook)).length, 2, "passes are kept when reconcile is taken away");
  assert.equal((await service.rest("POST", `/webhooks/${webhook.id}/reconcile`, { body: { since: SINCE } })).status, 400);
});

test("an item is known by its own id, else by its body, also if the request itself was received", async (t) => {
  const service = await startTestService(t, {});
  const items = [
    { body: { n: 1 }, id: "one" },
    { body: { n: 2 }, id: "two" },
    { body: { n: 2 }, id: "two again" },
    { body: { n: 3 } },
    { body: '{"n":4}' },
    { body: '{"n":4}' },
    { body: "n=5", headers: { "content-type": "application/x-www-form-urlencoded" } },
    { body: "plain" },
  ];
  const provider = await startProvider(t, pagesOf(items, 3));
  const webhook = await makeWebhook(service, "(evt, headers, query, raw) => ({ name: 'shop/sale', data: { evt, raw } })", {
    reconcile: { source: sourceOf(provider, "page.items") },
  });
  assert.equal((await post(webhook.url, { n: 1 })).status, 200);
  assert.equal((await post(webhook.url, { n: 3 })).status, 200);
  assert.deepEqual(counts(await passOf(service, webhook)), [8, 3, 5, 0]);
  assert.deepEqual(counts(await passOf(service, webhook)), [8, 8, 0, 0]);
  const payloads = (await eventsOf(service)).map(({ data }) => data as { evt: object; raw: string });
  assert.deepEqual(payloads.find(({ raw }) => raw === "n=5")?.evt, { n: ["5"] });
  assert.deepEqual(payloads.find(({ raw }) => raw === "plain")?.evt, {});
});

test("an item is held to the body limit of the branch that it is delivered to", async (t) => {
  const service = await startTestService(t, {});
  for (const [name, bodyLimitBytes] of Object.entries({ large: 600_000, small: 1_000 }))
    await service.rest("POST", "/environments", { body: { name, kind: "branch", bodyLimitBytes } });
  const itemFor = (branch: string, body: object) => ({ body, headers: { "x-service-env": branch } });
  const items = [
    itemFor("large", { n: 590_000 }),
    itemFor("large", { n: 590_001 }),
    itemFor("large", { n: 1, rest: "z".repeat(590_000) }),
    itemFor("small", { n: 1_000 }),
    itemFor("small", { n: 1, rest: "z".repeat(1_000) }),
    itemFor("small", { n: 2 }),
  ];
  const provider = await startProvider(t, pagesOf(items, 6));
  const webhook = await makeWebhook(service, "(evt) => ({ name: 'shop/sale', data: { x: 'y'.repeat(evt.n) } })", {
    environment: "branch",
    reconcile: { source: sourceOf(provider, "page.items") },
  });
  const dry = await service.rest("POST", `/webhooks/${webhook.id}/reconcile`, { body: { since: SINCE, dryRun: true } });
  assert.deepEqual([dry.status, dry.body.data], [200, { listed: 6, seen: 0, recovered: 4, failed: 2 }]);
});

test("an item that was refused and replayed is known by its own id, and replaying its request as well makes no second event", async (t) => {
  const service = await startTestService(t, {});
  const items = [1, 2, 3].map((n) => ({ body: { n: Math.min(n, 2) }, id: `item ${n}` }));
  const provider = await startProvider(t, pagesOf(items, 3));
  const webhook = await makeWebhook(service, "() => { throw new Error('broken'); }", {
    reconcile: { source: sourceOf(provider, "page.items") },
  });
  assert.equal((await post(webhook.url, { n: 1 })).status, 400);
  assert.deepEqual(counts(await passOf(service, webhook)), [3, 0, 0, 3]);
  assert.deepEqual(counts(await passOf(service, webhook)), [3, 0, 0, 3]);
  const refused: { id: string }[] = await requestsOf(service, webhook);
  assert.equal(refused.length, 3, "the request, and the items of which no request was received");
  const replayed = () => Promise.all(refused.map(({ id }) => service.rest("POST", `/webhooks/${webhook.id}/requests/${id}/replay`)));
  await replayed();
  const again: { id: string }[] = await requestsOf(service, webhook);
  assert.equal(again.length, 6, "a replay that was refused is a request of its own");

  await service.rest("PUT", `/webhooks/${webhook.id}`, { body: { transform: WITHOUT_ID } });
  refused.splice(0, refused.length, ...again.slice(0, 3));
  for (const answer of await replayed()) assert.equal(answer.status, 201, answer.text);
  assert.equal((await eventsOf(service)).length, 3);
  assert.deepEqual(counts(await passOf(service, webhook)), [3, 3, 0, 0]);
  assert.equal((await eventsOf(service)).length, 3);
});

testOnSqlite("a redirect is for the source to read, and is not followed", async (t) => {
  const service = await startTestService(t, {});
  const provider = await startProvider(t, ({ url }) =>
    url.pathname === "/list" ? { status: 302, headers: { location: "/moved" } } : { body: { items: [{ id: "sale-1" }] } },
  );
  const source = `
    function request({ cursor }) { return { url: "${provider.url}" + (cursor ?? "/list") }; }
    function read({ status, headers, body }) {
      if (status === 302) return { items: [{ body: { id: "sale-0" } }], cursor: headers.location };
      return { items: JSON.parse(body).items.map((body) => ({ body })) };
    }`;
  const webhook = await makeWebhook(service, BY_EVENT_ID, { reconcile: { source } });
  const pass = await passOf(service, webhook);
  assert.deepEqual([counts(pass), pass.error], [[2, 0, 2, 0], null]);
});

testOnSqlite(
  "429 and 503 with Retry-After are waited for; any other fault ends the pass at once, and what came before is taken in",
  async (t) => {
    const service = await startTestService(t, {});
    const items = Array.from({ length: 30 }, (_, n) => ({ id: `sale-${n}` }));
    const pages = pagesOf(items, 5);
    const waits: number[] = [];
    const faults: Record<string, (asked: Asked) => ProviderResponse> = {
      polite: (asked) => {
        const times = provider.asked.filter(({ url }) => url.search === asked.url.search).length;
        if (times === 1) waits.push(Date.now());
        if (times > 2) waits.push(Date.now());
        if (times < 3) return { status: times === 1 ? 429 : 503, headers: { "retry-after": "1" } };
        return pages(asked);
      },
      large: () => ({ body: { items: ["x".repeat(1_100_000)] } }),
      cut: () => ({ body: { items: [] }, isCut: true }),
      unread: () => ({ status: 429, body: "slow down" }),
      broken: () => ({ body: "no JSON" }),
      gone: () => ({ body: { items: [{}], next: 3 } }),
    };
    let fault = "polite";
    const provider = await startProvider(t, (asked) => {
      const page = Number(asked.url.searchParams.get("page"));
      if (page === 2) return (faults[fault] as (asked: Asked) => ProviderResponse)(asked);
      return pages(asked);
    });
    const reconcile = { source: sourceOf(provider, "page.items.map((one) => one.id ? { body: one } : 'none')"), secrets: [SECRET] };
    const webhook = await makeWebhook(service, BY_EVENT_ID, { reconcile });
    for (const name of ["large", "cut", "unread", "broken", "gone"]) {
      fault = name;
      const before = provider.asked.length;
      const pass = await passOf(service, webhook);
      assert.deepEqual([pass.listed, pass.seen + pass.recovered], [10, 10], name);
      assert.ok(pass.error, name);
      assert.equal(provider.asked.length - before, 3, `${name}: no page is asked for twice`);
    }
    assert.equal((await eventsOf(service)).length, 10);
    fault = "polite";
    provider.asked.length = 0;
    assert.deepEqual(counts(await passOf(service, webhook)), [30, 10, 20, 0]);
    assert.ok((waits[1] ?? 0) - (waits[0] ?? 0) >= 1_900, "it waited as long as it was asked to");
    assert.equal(provider.asked.filter(({ url }) => url.searchParams.get("page") === "2").length, 3);
  },
);

testOnSqlite("a pass waits for the one before, ends after 1,000 pages, and can be cancelled", async (t) => {
  const service = await startTestService(t, {});
  let held: (() => void) | null = null;
  const provider = await startProvider(t, ({ url }) => {
    const page = Number(url.searchParams.get("page"));
    return held && page === 1 ? "nothing" : { body: { items: page < 3 ? [{ id: `sale-${page}` }] : [], next: page + 1 } };
  });
  const webhook = await makeWebhook(service, BY_EVENT_ID, { reconcile: { source: sourceOf(provider) } });
  held = () => undefined;
  const [first, second] = [await order(service, webhook), await order(service, webhook)];
  await until("the second page", () => (provider.asked.length === 2 ? true : undefined));
  assert.equal((await service.rest("GET", `/jobs/${first.id}`)).body.data.total, 1, "what is listed so far");
  assert.equal((await service.rest("GET", `/jobs/${second.id}`)).body.data.status, "queued");
  held = null;
  assert.equal((await service.rest("POST", `/jobs/${first.id}/cancel`)).status, 200);
  const { total, done } = await ended(service, second, MANY_PAGES_MS);
  assert.deepEqual([total, done], [3, 3]);
  const [pass] = await passesOf(service, webhook);
  assert.match(pass.error, /more than 1,000 pages/);
  assert.deepEqual(counts(pass), [3, 0, 3, 0]);
  assert.equal(new Set(provider.asked.map(({ url }) => url.searchParams.get("page"))).size, 1_000);
});

testOnSqlite("a pass that is cancelled waits for its provider no longer", async (t) => {
  const service = await startTestService(t, {});
  const provider = await startProvider(t, () => ({ status: 429, headers: { "retry-after": "50" } }));
  const webhook = await makeWebhook(service, BY_EVENT_ID, { reconcile: { source: sourceOf(provider) } });
  const job = await order(service, webhook);
  await until("the first page", () => (provider.asked.length === 1 ? true : undefined));
  assert.equal((await service.rest("POST", `/jobs/${job.id}/cancel`)).status, 200);
  const pass = await until("the pass", async () => (await passesOf(service, webhook))[0], PROMPT_MS);
  assert.equal(pass.error, "The job was cancelled.");
});

testOnSqlite("passes that wait for their providers hold up no other job", async (t) => {
  const service = await startTestService(t, {});
  const provider = await startProvider(t, () => ({ status: 429, headers: { "retry-after": "50" } }));
  for (let n = 0; n < WAITING; n++) {
    const webhook = await makeWebhook(service, BY_EVENT_ID, { name: `w${n}`, reconcile: { source: sourceOf(provider) } });
    await order(service, webhook);
  }
  await until("passes that wait", () => (provider.asked.length >= AT_ONCE_MAX ? true : undefined));
  assert.equal((await service.send({ name: "shop/sale", data: {} })).status, 200);
  const { body } = await service.rest("POST", "/jobs", { body: { kind: "events.erase", filter: { name: "shop/sale" } } });
  assert.equal((await ended(service, body.data, PROMPT_MS)).status, "completed");
});

test("settings that cannot work are refused, and stored secrets do not follow another address", async (t) => {
  const service = await startTestService(t, {});
  const source = "function request() { return { url: 'http://127.0.0.1:1/' } } const read = () => ({ items: [] });";
  const refused = async (reconcile: object, field: RegExp) => {
    const answer = await service.rest("POST", "/webhooks", { body: { name: "w", transform: WITHOUT_ID, reconcile } });
    assert.equal(answer.status, 400, JSON.stringify(reconcile));
    assert.match(answer.body.details[0].field, field, answer.text);
  };
  await refused({}, /^reconcile$/);
  await refused({ preset: "stripe", source }, /^reconcile$/);
  await refused({ preset: "stripe" }, /reconcile\.secrets/);
  await refused({ preset: "unknown", secrets: ["s"] }, /reconcile/);
  await refused({ preset: "github", secrets: ["s"], hook: "1" }, /reconcile\.repository/);
  await refused({ preset: "github", secrets: ["s"], repository: "none", hook: "1" }, /reconcile\.repository/);
  await refused({ preset: "github", secrets: ["s"], repository: "a/b", hook: "1", shop: "x" }, /reconcile\.shop/);
  await refused({ preset: "shopify", secrets: ["s"], shop: "example.com" }, /reconcile\.shop/);
  await refused({ preset: "stripe", secrets: ["s"], baseUrl: "ftp://x" }, /reconcile\.baseUrl/);
  await refused({ source, every: "9s" }, /reconcile\.every/);
  await refused({ source, lookBack: "long" }, /reconcile\.lookBack/);
  await refused({ source: "function request() {}" }, /reconcile\.source/);
  await refused({ source: "() => 1" }, /reconcile\.source/);

  const webhook = await makeWebhook(service, WITHOUT_ID, { reconcile: { preset: "stripe", secrets: [SECRET] } });
  const put = (reconcile: object) => service.rest("PUT", `/webhooks/${webhook.id}`, { body: { reconcile } });
  const kept = await put({ preset: "stripe", every: "10s" });
  assert.deepEqual(
    [kept.status, kept.body.data.reconcile],
    [200, { preset: "stripe", every: "10s", lookBack: "72h", secrets: [{ last4: "6789" }] }],
  );
  assert.equal((await put({ preset: "stripe", baseUrl: "http://127.0.0.1:1" })).status, 400, "another address would get the secret");
  assert.equal((await put({ source })).status, 400);
  const times = [{}, { since: "no time" }, { since: Date.now() + 9e9 }, { since: SINCE, until: SINCE }, { since: SINCE, what: 1 }];
  for (const body of times) assert.equal((await service.rest("POST", `/webhooks/${webhook.id}/reconcile`, { body })).status, 400);
  assert.equal((await service.rest("POST", "/webhooks/wh_none/reconcile", { body: { since: SINCE } })).status, 404);

  const far = "function request() { return { url: 'http://169.254.169.254/latest' } } const read = () => ({ items: [] });";
  const metadata = await makeWebhook(service, WITHOUT_ID, { reconcile: { source: far } });
  assert.match((await passOf(service, metadata)).error, /metadata address/);
  const telling = "function request({ secrets }) { throw new Error('see ' + secrets[0]) } const read = () => ({ items: [] });";
  const loud = await makeWebhook(service, WITHOUT_ID, { reconcile: { source: telling, secrets: [SECRET] } });
  const { error } = await passOf(service, loud);
  assert.match(error, /see \*\*\*/);
  assert.equal(error.includes(SECRET), false);
});

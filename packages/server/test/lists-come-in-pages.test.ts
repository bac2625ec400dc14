/**
 * Every list of the REST API takes `limit` and `cursor`: pages of one item bring the same items, in the same order, as one page.
 *
 * Added a list? A path with parameters needs them in PATHS; put two items into it in `fill` and its path into FILLED.
 */

import assert from "node:assert/strict";
import type { TestContext } from "node:test";
import { runsOf, startApp } from "./support/app.ts";
import { test } from "./support/both-stores.ts";
import { openBrowser } from "./support/browser.ts";
import type { OpenApiDocument } from "./support/closed-schemas.ts";
import { API_KEY, call, startTestService, type TestService } from "./support/service.ts";
import { ECHO, makeWebhook, post } from "./support/webhooks.ts";

interface Ids {
  event: string;
  webhook: string;
}

const PATHS: Readonly<Record<string, (ids: Ids) => string>> = {
  "/v1/events/{id}/runs": ({ event }) => `/events/${event}/runs`,
  "/v1/event-types/{name}/versions": () => `/event-types/${encodeURIComponent("shop/one")}/versions`,
  "/v1/find": ({ event }) => `/find?id=${event}`,
  "/v1/webhooks/{id}/versions": ({ webhook }) => `/webhooks/${webhook}/versions`,
  "/v1/webhooks/{id}/reconciliations": ({ webhook }) => `/webhooks/${webhook}/reconciliations`,
  "/v1/webhooks/{id}/requests": ({ webhook }) => `/webhooks/${webhook}/requests`,
};

/** A provider would have to be asked for its items. */
const EMPTY = "/v1/webhooks/{id}/reconciliations";

const FILLED = [
  "/v1/approvals",
  "/v1/apps",
  "/v1/saved-filters",
  "/v1/functions",
  "/v1/runs",
  "/v1/events",
  "/v1/event-types",
  "/v1/webhooks",
  "/v1/keys",
  "/v1/environments",
  "/v1/sessions",
  "/v1/audit-log",
  "/v1/transforms/providers",
  ...Object.keys(PATHS).filter((path) => path.includes("{id}") && path !== EMPTY),
];

async function fill(t: TestContext, service: TestService): Promise<Ids> {
  for (const id of ["shop", "till", "desk"]) {
    await startApp(
      t,
      service,
      (inlet) => [
        inlet.createFunction({ id: "one" }, { event: "shop/one" }, () => 1),
        inlet.createFunction({ id: "two" }, { event: "shop/one" }, () => 2),
      ],
      { id },
    );
  }
  for (const name of ["staging", "trial"]) await service.rest("POST", "/environments", { body: { name } });
  for (const name of ["a", "b", "c"]) await service.rest("POST", "/keys", { body: { kind: "event", name } });
  for (let n = 0; n < 2; n++) await openBrowser(service.url).signIn({ apiKey: API_KEY });
  for (const signal of ["a", "b", "c"]) await service.rest("POST", "/approvals", { body: { signal, prompt: "Go?", timeout: "1h" } });
  for (const name of ["c", "a", "b"]) await service.rest("PUT", "/saved-filters", { body: { list: "runs", name, search: {} } });
  await makeWebhook(service);
  const webhook = await makeWebhook(service);
  for (const n of [2, 3]) await service.rest("PUT", `/webhooks/${webhook.id}`, { body: { transform: `${ECHO}\n// ${n}` } });
  for (const n of [1, 2, 3]) await post(webhook.url, { n });
  const sent = await service.send({ name: "shop/one", data: {} });
  await service.send({ name: "shop/two", data: {} });
  const [event] = sent.body.ids;
  await runsOf(service, event, { count: 6 });
  return { event, webhook: webhook.id };
}

/** The paths of the document whose response is a page. */
function listsOf(document: OpenApiDocument): string[] {
  return Object.entries(document.paths).flatMap(([path, { get }]) => {
    const schema = get?.responses["200"]?.content["application/json"]?.schema as
      | { properties?: { page?: { properties?: object } } }
      | undefined;
    return "next" in (schema?.properties?.page?.properties ?? {}) ? [path] : [];
  });
}

/** What else an item says may change between two reads: how large a database is, how many events came, when a session was used. */
function identity(item: { id?: string; name?: string; version?: number }): unknown {
  const { id, name, version } = item;
  return id ?? name ?? version ?? item;
}

async function walk(service: TestService, path: string, limit: number): Promise<unknown[]> {
  const items: unknown[] = [];
  let cursor: string | null = null;
  do {
    const query = new URLSearchParams({ limit: String(limit), ...(cursor !== null && { cursor }) });
    const { status, body, text } = await service.rest("GET", `${path}${path.includes("?") ? "&" : "?"}${query}`);
    assert.equal(status, 200, `${path}: ${text}`);
    assert.ok(body.data.length <= limit, path);
    items.push(...body.data.map(identity));
    assert.ok(items.length < 1_000, `${path} comes to an end`);
    cursor = body.page.next;
  } while (cursor !== null);
  return items;
}

test("pages of one item bring what one page brings, for every list of the document", async (t) => {
  const service = await startTestService(t);
  const ids = await fill(t, service);
  const lists = listsOf((await call(`${service.url}/v1/openapi.json`)).body);
  assert.deepEqual(
    FILLED.filter((path) => !lists.includes(path)),
    [],
    "these are lists",
  );
  for (const list of lists) {
    const path = PATHS[list]?.(ids) ?? list.replace("/v1", "");
    assert.ok(!path.includes("{"), `${list}: add it to PATHS in this file`);
    const whole = await walk(service, path, 100);
    if (FILLED.includes(list)) assert.ok(whole.length > 1, `${list} has items`);
    assert.deepEqual(await walk(service, path, 1), whole, list);
    const odd = await service.rest("GET", `${path}${path.includes("?") ? "&" : "?"}cursor=%7Bno%7D`);
    assert.deepEqual([odd.status, odd.body.code], [400, "request_invalid"], `${list} refuses a cursor it did not give out`);
  }
});

test("an item removed between two pages neither hides nor repeats others", async (t) => {
  const service = await startTestService(t);
  const made = [await makeWebhook(service), await makeWebhook(service), await makeWebhook(service)].map(({ id }) => id).reverse();
  const first = (await service.rest("GET", "/webhooks?limit=1")).body;
  await service.rest("DELETE", `/webhooks/${made[0]}`);
  const rest = (await service.rest("GET", `/webhooks?cursor=${first.page.next}`)).body;
  assert.deepEqual(
    [...first.data, ...rest.data].map(({ id }) => id),
    made,
  );
});

test("a list of events continues after the event whose id is the cursor", async (t) => {
  const service = await startTestService(t);
  const { body } = await service.send(["a", "b", "c", "d"].map((letter) => ({ name: `shop/${letter}`, data: {} })));
  const namesOf = async (query: string) => {
    const { body: page } = await service.rest("GET", `/events?${query}`);
    return page.data.map(({ name }: { name: string }) => name);
  };
  assert.deepEqual(await namesOf(`cursor=${body.ids[2]}`), ["shop/b", "shop/a"]);
  assert.deepEqual(await namesOf(`cursor=${body.ids[2]}&name=shop/a`), ["shop/a"]);
  const unknown = await service.rest("GET", "/events?cursor=01JCZZZZZZZZZZZZZZZZZZZZZZ");
  assert.deepEqual([unknown.status, unknown.body.code], [400, "request_invalid"]);
});

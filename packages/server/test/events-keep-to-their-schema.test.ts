/** A declared schema holds at every entrance, in each of its modes, and what traffic shows is inferred beside it. */

import assert from "node:assert/strict";
import { test as testOnce } from "node:test";
import { startApp } from "./support/app.ts";
import { test } from "./support/both-stores.ts";
import { type Cases, onOneService } from "./support/one-service.ts";
import { migratedDatabase, whyNoPostgres } from "./support/postgres.ts";
import { endedRun, until } from "./support/runs.ts";
import { call, EVENT_KEY, startTestService, type TestService } from "./support/service.ts";
import { makeWebhook, post } from "./support/webhooks.ts";

const NAME = "shop/order.created";
const SCHEMA = {
  type: "object",
  required: ["orderId"],
  properties: { orderId: { type: "string" }, amount: { type: "number" } },
};

interface SentEvent {
  name: string;
  data: { event?: string };
}

function typeOf(name: string): string {
  return `/event-types/${encodeURIComponent(name)}`;
}

async function declare(service: TestService, name: string, body: object, headers: Record<string, string> = {}): Promise<void> {
  const { status, text } = await service.rest("PUT", typeOf(name), { body, headers });
  assert.equal(status, 200, text);
}

function bad(name: string) {
  return [
    { name, data: { orderId: "o_1" } },
    { name, data: { amount: "1" } },
  ];
}

/** Each with an event type of its own. */
const CASES: Cases = {
  async "refuse: nothing is stored, and every fault is named with its path"(service) {
    const name = "shop/order.refused";
    await declare(service, name, { schema: SCHEMA, mode: "refuse", description: "An order" });
    const { status, body } = await service.send(bad(name));
    assert.deepEqual([status, body.code], [400, "event_schema"]);
    assert.deepEqual(
      body.details.map(({ index, path }: { index: number; path: string }) => [index, path]),
      [
        [1, "/orderId"],
        [1, "/amount"],
      ],
    );
    assert.deepEqual((await service.rest("GET", `/events?name=${name}`)).body.data, []);
    assert.equal((await service.send({ name, data: { orderId: "o_1" } })).status, 200);
    assert.equal((await service.send({ name: "shop/other", data: { amount: "1" } })).status, 200);
    const { data } = (await service.rest("GET", typeOf(name))).body;
    assert.deepEqual([data.schema, data.mode, data.description, data.faults, data.version], [SCHEMA, "refuse", "An order", 1, 1]);
  },
  async "warn marks the event, observe counts it; the default is observe"(service) {
    const name = "shop/order.marked";
    await declare(service, name, { schema: SCHEMA });
    const [, seen] = (await service.send(bad(name))).body.ids;
    await declare(service, name, { mode: "warn" });
    const [fine, marked] = (await service.send(bad(name))).body.ids;
    const schemaOf = async (id: string) => (await service.rest("GET", `/events/${id}`)).body.data.schema;
    assert.equal(await schemaOf(seen), undefined);
    assert.equal(await schemaOf(fine), undefined);
    const { valid, errors } = await schemaOf(marked);
    assert.equal(valid, false);
    assert.deepEqual(
      errors.map(({ path }: { path: string }) => path),
      ["/orderId", "/amount"],
    );
    assert.equal((await service.rest("GET", typeOf(name))).body.data.faults, 2);
    await declare(service, name, { schema: null });
    assert.equal(await schemaOf((await service.send(bad(name))).body.ids[1]), undefined);
  },
  async "webhooks and sends of steps are checked too"(service, t) {
    const name = "shop/order.entered";
    await declare(service, name, { schema: SCHEMA, mode: "refuse" });
    const webhook = await makeWebhook(service, `function transform(evt) { return { name: "${name}", data: evt }; }`);
    const refused = await post(webhook.url, { amount: "1" });
    assert.deepEqual([refused.status, refused.body.code, refused.body.details[0].path], [400, "event_schema", "/orderId"]);
    const { data } = (await service.rest("GET", `/webhooks/${webhook.id}/requests`)).body;
    assert.equal(data[0].outcome, "event_schema");
    assert.equal((await post(webhook.url, { orderId: "o_1" })).status, 200);
    await startApp(t, service, (inlet) => [
      inlet.createFunction({ id: "send", retries: 0 }, { event: "shop/go" }, ({ step }) =>
        step.sendEvent("order", { name, data: { amount: "1" } }),
      ),
    ]);
    const run = await endedRun(service, (await service.send({ name: "shop/go", data: {} })).body.ids[0]);
    assert.equal(run.status, "failed");
    assert.match(JSON.stringify(run), /event_schema|schema declared/);
  },
  async "branch environments share the schemas of branch; other environments have their own"(service) {
    const name = "shop/order.branched";
    await service.rest("POST", "/environments", { body: { name: "feature/a", kind: "branch" } });
    await declare(service, name, { schema: SCHEMA, mode: "refuse" }, { "x-service-env": "branch" });
    const key = await service.rest("POST", "/keys", { body: { kind: "event", name: "b" }, headers: { "x-service-env": "branch" } });
    const send = (headers: Record<string, string>, eventKey: string) =>
      call(`${service.url}/e/${eventKey}`, { method: "POST", headers, body: JSON.stringify({ name, data: {} }) });
    assert.equal((await send({ "x-service-env": "feature/a" }, key.body.data.key)).body.code, "event_schema");
    assert.equal((await send({}, EVENT_KEY)).status, 200);
    const shown = await service.rest("GET", typeOf(name), { headers: { "x-service-env": "feature/a" } });
    assert.equal(shown.body.data.mode, "refuse");
  },
  async "what cannot be declared is refused with the reason"(service) {
    const put = (name: string, body: object) => service.rest("PUT", typeOf(name), { body });
    const cases: [string, object, string][] = [
      ["shop/*", { schema: {} }, "name"],
      ["inlet/x", { schema: {} }, "name"],
      [NAME, { schema: { $ref: "https://example.com" } }, "schema"],
      [NAME, { schema: { type: "strong" } }, "schema"],
      [NAME, { mode: "ignore" }, "mode"],
      [NAME, { more: 1 }, "more"],
    ];
    for (const [name, body, field] of cases) {
      const { status, body: answer } = await put(name, body);
      assert.deepEqual([status, answer.code], [400, "request_invalid"], JSON.stringify(answer));
      assert.equal(answer.details[0].field, field, JSON.stringify(answer));
    }
  },
  async "the shape is inferred, drift is shown and raised, versions can be compared, data can be tried"(service) {
    const name = "shop/order.shaped";
    await declare(service, name, { schema: SCHEMA });
    await service.send(Array.from({ length: 20 }, (_, n) => ({ name, data: { orderId: `o_${n}`, ...(n % 2 === 0 && { amount: n }) } })));
    const { shape } = (await service.rest("GET", typeOf(name))).body.data;
    assert.equal(shape.samples, 20);
    assert.deepEqual(
      shape.fields.map(({ path, frequency, types }: { path: string; frequency: number; types: { type: string }[] }) => [
        path,
        frequency,
        types.map(({ type }) => type),
      ]),
      [
        ["amount", 0.5, ["integer"]],
        ["orderId", 1, ["string"]],
      ],
    );
    const odd = (await service.send({ name, data: { orderId: "o_99", coupon: "x" } })).body.ids[0];
    const { drift } = (await service.rest("GET", typeOf(name))).body.data;
    assert.deepEqual([drift[0].kind, drift[0].path, drift[0].type, drift[0].eventId], ["field", "coupon", "string", odd]);
    const raised = await until("the internal event", async () => {
      const { body } = await service.rest("GET", "/events?source=internal");
      return body.data.find((event: SentEvent) => event.name === "inlet/event-type.drifted" && event.data.event === name);
    });
    assert.deepEqual([raised.data.path, raised.data.type], ["coupon", "string"]);
    const { changes } = (await service.rest("GET", `${typeOf(name)}/compare?from=1&to=shape`)).body.data;
    assert.ok(changes.some(({ path, change }: { path: string; change: string }) => path === "coupon" && change === "added"));
    assert.equal((await service.rest("GET", `${typeOf(name)}/compare?from=1&to=9`)).body.code, "event_schema_not_found");
    assert.equal((await service.rest("GET", `${typeOf(name)}/versions`)).body.data.length, 1);
    const tried = await service.rest("POST", `${typeOf(name)}/check`, { body: { data: { amount: "1" } } });
    assert.deepEqual([tried.body.data.valid, tried.body.data.errors.length], [false, 2]);
  },
  async "the result of the check is the service's own: a field of that name that a sender sets is not shown as one"(service) {
    const name = "shop/order.forged";
    await declare(service, name, { schema: SCHEMA, mode: "warn" });
    const forged = { schema: { valid: false, errors: [{ path: "", message: "forged" }] }, v: "1" };
    const [fine, broken] = (
      await service.send([
        { name, data: { orderId: "o_1" }, ...forged },
        { name, data: {}, ...forged },
      ])
    ).body.ids;
    const read = async (id: string) => (await service.rest("GET", `/events/${id}`)).body.data;
    assert.deepEqual([(await read(fine)).schema, (await read(fine)).v], [undefined, "1"]);
    const { valid, errors } = (await read(broken)).schema;
    assert.deepEqual([valid, errors.map(({ path }: { path: string }) => path)], [false, ["/orderId"]]);
    const listed = (await service.rest("GET", `/events?name=${name}`)).body.data;
    assert.deepEqual(
      listed.map(({ schema }: { schema?: object }) => schema !== undefined),
      [true, false],
    );
  },
};

test("schemas of one service", onOneService(CASES));

test("a declared type is listed before its first event, once, and its $id and $schema mean nothing", async (t) => {
  const service = await startTestService(t);
  const listed = async (query = "") => {
    const { body } = await service.rest("GET", `/event-types${query}`);
    return { names: body.data.map(({ name, count }: { name: string; count: number }) => `${name} ${count}`), next: body.page.next };
  };
  const schema = { $id: "https://example.com/order", $schema: "http://json-schema.org/draft-07/schema#", type: "object" };
  for (const name of ["shop/b", "shop/a"]) {
    const path = `/event-types/${encodeURIComponent(name)}`;
    assert.equal((await service.rest("PUT", path, { body: { schema } })).status, 200);
    assert.deepEqual((await service.rest("GET", path)).body.data.schema, schema);
  }
  assert.deepEqual(await listed(), { names: ["shop/a 0", "shop/b 0"], next: null });
  assert.deepEqual(await listed("?limit=2"), { names: ["shop/a 0", "shop/b 0"], next: null });
  await service.send([
    { name: "shop/a", data: {} },
    { name: "crm/note", data: {} },
  ]);
  const pages: string[] = [];
  for (let cursor: string | null = ""; cursor !== null; ) {
    const { names, next } = await listed(`?limit=1${cursor && `&cursor=${cursor}`}`);
    assert.equal(names.length, 1);
    pages.push(...names);
    cursor = next;
  }
  assert.deepEqual([pages[0], pages.slice(1).sort()], ["shop/b 0", ["crm/note 1", "shop/a 1"]]);
});

testOnce(
  "a schema declared on one node holds on another while batches arrive: each is whole or absent",
  {
    skip: whyNoPostgres() ?? false,
  },
  async (t) => {
    const databaseUrl = await migratedDatabase(t);
    const [first, second] = await Promise.all([startTestService(t, { databaseUrl }), startTestService(t, { databaseUrl })]);
    const statuses: number[] = [];
    const sender = (async () => {
      const deadline = Date.now() + 60_000;
      while (!statuses.includes(400) && Date.now() < deadline) statuses.push((await second.send(bad(NAME))).status);
    })();
    await until("a batch", () => (statuses.length > 0 ? true : undefined));
    await declare(first, NAME, { schema: SCHEMA, mode: "refuse" });
    await sender;
    for (let n = 0; n < 3; n++) statuses.push((await second.send(bad(NAME))).status);
    const accepted = statuses.indexOf(400);
    assert.ok(accepted > 0, "nothing was refused");
    assert.deepEqual(new Set(statuses.slice(accepted)), new Set([400]), "no batch is accepted after one was refused");
    const { counts } = await storedOrders(second, accepted);
    assert.deepEqual(counts, { good: accepted, bad: accepted });
  },
);

/** Reads every page: a slow machine sends few batches, a fast one many. */
async function storedOrders(service: TestService, most: number) {
  const counts = { good: 0, bad: 0 };
  let after = "";
  for (let pages = 0; pages <= most; pages++) {
    const { data, page } = (await service.rest("GET", `/events?limit=100&name=${encodeURIComponent(NAME)}${after}`)).body;
    for (const { data: order } of data) counts[order.orderId === undefined ? "bad" : "good"]++;
    if (page.next === null) break;
    after = `&cursor=${encodeURIComponent(page.next)}`;
  }
  return { counts };
}

/** Which key sends into which environment; how environments and keys are made, listed, archived and revoked. */

import assert from "node:assert/strict";
import { test } from "./support/both-stores.ts";
import { onOneService } from "./support/one-service.ts";
import { type Answer, startTestService, type TestService } from "./support/service.ts";

const EVENT = { name: "shop/order.created", data: {} };

const code = ({ status, body }: Answer) => [status, body.code];

async function makeKey(service: TestService, environment: string, extra: object = {}): Promise<{ id: string; key: string }> {
  const { status, body } = await service.rest("POST", "/keys", {
    body: { kind: "event", name: `for ${environment}`, ...extra },
    headers: { "x-service-env": environment },
  });
  assert.equal(status, 201, JSON.stringify(body));
  return body.data;
}

async function eventsIn(service: TestService, environment: string): Promise<number> {
  return (await service.rest("GET", "/events", { headers: { "x-service-env": environment } })).body.data.length;
}

test(
  "keys send into their environments",
  onOneService({
    "a branch key needs the name of an existing branch, in either header": async (service) => {
      const { key } = await makeKey(service, "branch");
      const inProduction = await eventsIn(service, "production");
      await service.rest("POST", "/environments", { body: { name: "feature/cart", kind: "branch" } });
      await service.rest("POST", "/environments", { body: { name: "staging", kind: "custom" } });
      const send = (headers: Record<string, string>) => service.send(EVENT, { key, headers });

      assert.deepEqual(code(await send({})), [400, "environment_missing"]);
      assert.deepEqual(code(await send({ "x-service-env": "feature/none" })), [404, "environment_not_found"]);
      assert.deepEqual(code(await send({ "x-service-env": "staging" })), [404, "environment_not_found"]);
      assert.deepEqual(code(await send({ "x-service-env": "production" })), [404, "environment_not_found"]);
      assert.equal((await send({ "x-service-env": "feature/cart" })).status, 200);
      assert.equal((await send({ "x-inngest-env": "feature/cart" })).status, 200);
      assert.equal((await send({ "x-service-env": "feature/cart", "x-inngest-env": "ignored" })).status, 200);
      assert.equal(await eventsIn(service, "feature/cart"), 3);
      assert.equal(await eventsIn(service, "production"), inProduction);

      await service.rest("POST", "/environments/feature%2Fcart/archive");
      assert.deepEqual(code(await send({ "x-service-env": "feature/cart" })), [404, "environment_not_found"]);
      assert.equal(await eventsIn(service, "feature/cart"), 3, "an archived environment keeps its events");
      await service.rest("POST", "/environments/feature%2Fcart/unarchive");
      assert.equal((await send({ "x-service-env": "feature/cart" })).status, 200);
    },

    "a key of one environment sends only there": async (service) => {
      assert.equal((await service.send(EVENT, { headers: { "x-service-env": "production" } })).status, 200);
      const forbidden = await service.send(EVENT, { headers: { "x-service-env": "feature/none" } });
      assert.deepEqual(code(forbidden), [403, "environment_forbidden"]);
      assert.match(forbidden.body.error, /x-service-env: branch/, "the response says how to get a branch key");
    },

    "a key is shown once, listed by prefix, and stops working when revoked": async (service) => {
      const { id, key } = await makeKey(service, "production");
      assert.equal((await service.send(EVENT, { key })).status, 200);
      const listed = await service.rest("GET", "/keys?kind=event");
      assert.ok(!listed.text.includes(key));
      const row = listed.body.data.find((candidate: { id: string }) => candidate.id === id);
      assert.ok(key.startsWith(row.prefix) && row.prefix.length < 12);

      const overlap = await makeKey(service, "production");
      assert.equal((await service.rest("DELETE", `/keys/${id}`)).status, 200);
      assert.deepEqual(code(await service.send(EVENT, { key })), [401, "event_key_invalid"]);
      assert.equal((await service.send(EVENT, { key: overlap.key })).status, 200, "the other key goes on");
      assert.deepEqual(code(await service.rest("DELETE", `/keys/${id}`)), [404, "key_not_found"]);
      const events = await service.rest("GET", `/events?source=${id}`);
      assert.equal(events.body.data[0].source.name, "for production", "its events still name their source");
    },

    "lists of names and addresses on a key": async (service) => {
      const send = async (extra: object, name = "shop/order.created") => {
        const { key } = await makeKey(service, "production", extra);
        return code(await service.send({ name, data: {} }, { key }));
      };
      const names = (mode: string, ...list: string[]) => ({ eventNames: { mode, list } });
      const ips = (mode: string, ...list: string[]) => ({ ips: { mode, list } });
      const fine = [200, undefined];
      assert.deepEqual(await send(names("allow", "shop/*")), fine);
      assert.deepEqual(await send(names("allow", "shop/order.created")), fine);
      assert.deepEqual(await send(names("allow", "other/*")), [403, "event_name_denied"]);
      assert.deepEqual(await send(names("allow", "shop/order")), [403, "event_name_denied"]);
      assert.deepEqual(await send(names("deny", "shop/*")), [403, "event_name_denied"]);
      assert.deepEqual(await send(names("deny", "other/*")), fine);
      assert.deepEqual(await send(names("allow", "*")), fine);
      assert.deepEqual(await send(ips("allow", "127.0.0.1")), fine);
      assert.deepEqual(await send(ips("allow", "127.0.0.0/8", "::1/128")), fine);
      assert.deepEqual(await send(ips("allow", "10.0.0.0/8", "2001:db8::/32")), [403, "ip_denied"]);
      assert.deepEqual(await send(ips("deny", "127.0.0.1/32")), [403, "ip_denied"]);
      const batch = await makeKey(service, "production", names("allow", "shop/*"));
      const refused = await service.send([EVENT, { name: "other/x", data: {} }], { key: batch.key });
      assert.deepEqual(refused.body.details[0].index, 1);
    },

    "bad lists are refused when the key is made": async (service) => {
      const create = (extra: object) => service.rest("POST", "/keys", { body: { kind: "event", name: "k", ...extra } });
      const bad = [
        { ips: { mode: "allow", list: ["300.1.1.1"] } },
        { ips: { mode: "allow", list: ["10.0.0.0/33"] } },
        { ips: { mode: "maybe", list: [] } },
        { eventNames: { mode: "allow", list: ["inngest/x"] } },
        { eventNames: ["shop/*"] },
        { role: "admin" },
        { kind: "other" },
        { name: "" },
      ];
      for (const extra of bad) assert.deepEqual(code(await create(extra)), [400, "request_invalid"], JSON.stringify(extra));
    },
  }),
);

test("a placeholder key on a dev server may name any existing environment", async (t) => {
  const service = await startTestService(t, { mode: "dev" });
  await service.rest("POST", "/environments", { body: { name: "pr-7", kind: "branch" } });
  const send = (name: string) => service.send(EVENT, { key: "any", headers: { "x-service-env": name } });
  assert.equal((await send("pr-7")).status, 200);
  assert.deepEqual(code(await send("pr-8")), [404, "environment_not_found"]);
  assert.equal(await eventsIn(service, "pr-7"), 1);
  const stale = await service.send(EVENT, { key: `whk_${"ab".repeat(24)}` });
  assert.deepEqual(code(stale), [404, "webhook_not_found"], "the URL of a webhook that is not there is no key");
});

test("environments: rules for names, what exists, what cannot be archived", async (t) => {
  const service = await startTestService(t);
  const create = (body: object) => service.rest("POST", "/environments", { body });
  const created = await create({ name: "feature/cart_v2.1-x", kind: "branch" });
  assert.equal(created.status, 201);
  assert.deepEqual([created.body.data.name, created.body.data.kind, created.body.data.archivedAt], ["feature/cart_v2.1-x", "branch", null]);
  assert.deepEqual(code(await create({ name: "feature/cart_v2.1-x", kind: "custom" })), [409, "environment_exists"]);
  for (const name of ["", "with space", "ümlaut", "x".repeat(129), "branch", "dev", ".", ".."]) {
    const refused = await create({ name, kind: "branch" });
    assert.deepEqual(code(refused), [400, "request_invalid"], name);
    assert.equal(refused.body.details[0].field, "name");
  }
  assert.deepEqual(code(await create({ name: "x", kind: "other" })), [400, "request_invalid"]);
  assert.deepEqual(code(await create({ name: "x", kind: "branch", colour: "red" })), [400, "request_invalid"]);
  assert.deepEqual(code(await service.rest("POST", "/environments/production/archive")), [409, "environment_permanent"]);
  assert.deepEqual(code(await service.rest("POST", "/environments/nowhere/archive")), [404, "environment_not_found"]);
  assert.deepEqual(code(await service.rest("POST", "/environments/branch/archive")), [404, "environment_not_found"]);
  const { body } = await service.rest("GET", "/environments");
  assert.deepEqual(
    body.data.map(({ name }: { name: string }) => name),
    ["feature/cart_v2.1-x", "production"],
  );
});

test("environments and keys come in pages", async (t) => {
  const service = await startTestService(t);
  for (const n of [1, 2, 3, 4]) await service.rest("POST", "/environments", { body: { name: `pr-${n}`, kind: "branch" } });
  const first = (await service.rest("GET", "/environments?limit=3")).body;
  const second = (await service.rest("GET", `/environments?limit=3&cursor=${first.page.next}`)).body;
  assert.deepEqual([first.data.length, second.data.length, second.page.next], [3, 2, null]);
  for (const n of [1, 2, 3]) await makeKey(service, "production", { name: `key ${n}` });
  const keys = (await service.rest("GET", "/keys?kind=event&limit=2")).body;
  const rest = (await service.rest("GET", `/keys?kind=event&limit=2&cursor=${keys.page.next}`)).body;
  assert.deepEqual([keys.data.length, rest.data.length, rest.page.next], [2, 2, null]);
});

test("behind a trusted proxy the client's own address counts, otherwise the header is ignored", async (t) => {
  const lists = { ips: { mode: "allow", list: ["203.0.113.7"] } };
  const headers = { "x-forwarded-for": "203.0.113.7" };
  const trusting = await startTestService(t, { flags: ["--trust-proxy", "127.0.0.0/8"] });
  const { key } = await makeKey(trusting, "production", lists);
  assert.equal((await trusting.send(EVENT, { key, headers })).status, 200);
  assert.equal((await trusting.send(EVENT, { key, headers: { "x-forwarded-for": "203.0.113.7:52100" } })).status, 200, "with a port");
  const other = await startTestService(t, { flags: ["--trust-proxy", "10.0.0.0/8"] });
  assert.deepEqual(code(await other.send(EVENT, { key: (await makeKey(other, "production", lists)).key, headers })), [403, "ip_denied"]);
  const plain = await startTestService(t);
  assert.deepEqual(code(await plain.send(EVENT, { key: (await makeKey(plain, "production", lists)).key, headers })), [403, "ip_denied"]);
});

test("API keys: needed, checked, limited by role; the last one stays", async (t) => {
  const service = await startTestService(t);
  const as = (key: string) => ({ authorization: `Bearer ${key}` });
  assert.deepEqual(code(await service.rest("GET", "/events", { headers: { authorization: "" } })), [401, "api_key_missing"]);
  assert.deepEqual(code(await service.rest("GET", "/events", { headers: as("wrong") })), [401, "api_key_invalid"]);
  assert.deepEqual(code(await service.rest("GET", "/events", { headers: as("test-event-key") })), [401, "api_key_invalid"]);
  const reader = (await service.rest("POST", "/keys", { body: { kind: "api", name: "r", role: "read" } })).body.data;
  assert.equal((await service.rest("GET", "/events", { headers: as(reader.key) })).status, 200);
  assert.deepEqual(code(await service.rest("POST", "/environments", { body: { name: "x" }, headers: as(reader.key) })), [
    403,
    "role_forbidden",
  ]);
  const { body } = await service.rest("GET", "/keys?kind=api");
  const admin = body.data.find(({ role }: { role: string }) => role === "admin");
  assert.deepEqual(code(await service.rest("DELETE", `/keys/${admin.id}`)), [409, "key_last"]);
  await service.rest("POST", "/keys", { body: { kind: "api", name: "second" } });
  assert.equal((await service.rest("DELETE", `/keys/${admin.id}`)).status, 200);
  assert.deepEqual(code(await service.rest("GET", "/events")), [401, "api_key_invalid"], "a revoked API key stops at once");
});

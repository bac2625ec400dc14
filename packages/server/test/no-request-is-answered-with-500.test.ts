/** Whatever a request holds, in its path, its query or its body, it is answered or refused, on both engines. Seeded. */

import assert from "node:assert/strict";
import { attackInRounds, attackPlan, attackTimeoutMs, type Random } from "./support/attacks/attack-plan.ts";
import { HOSTILE_TEXTS, hostileValue, type ValueSchema } from "./support/attacks/hostile-values.ts";
import { type Operation, operationsOf } from "./support/attacks/rest-operations.ts";
import { test } from "./support/both-stores.ts";
import { onOneService } from "./support/one-service.ts";
import { call, SIGNING_KEY, startTestService } from "./support/service.ts";
import { makeWebhook, post } from "./support/webhooks.ts";

const ROUNDS = 400;

/** Streams do not end, an app that is asked to register may be unreachable, and who signs out or deletes the own key is out. */
const LEFT_OUT = /\/stream$|^\/session|^\/apps$|^\/keys\/|archive$/;

function requestOf(random: Random, { path, query, body }: Operation, known: Readonly<Record<string, string>>) {
  const textOf = (schema: ValueSchema) => {
    const value = random.next() < 0.5 ? random.pick(HOSTILE_TEXTS) : hostileValue(random, schema);
    return typeof value === "string" ? value : JSON.stringify(value);
  };
  const chosen = query
    .filter(() => random.next() < 0.4)
    .map(({ name, schema }): [string, string] => [name, textOf(schema).slice(0, 3_000)]);
  const target = path.replace(/\{\w+\}/g, () => {
    const own = known[path.split("/")[1] ?? ""];
    const text = own !== undefined && random.next() < 0.6 ? own : random.pick(HOSTILE_TEXTS);
    return encodeURIComponent(text.toWellFormed()) || "x";
  });
  return { path: `${target}?${new URLSearchParams(chosen)}`, ...(body && { body: hostileValue(random, body) ?? {} }) };
}

test("every route answers or refuses whatever it is sent", { timeout: attackTimeoutMs() }, async (t) => {
  const service = await startTestService(t);
  const webhook = await makeWebhook(service);
  await post(webhook.url);
  const sent = (await service.send({ name: "shop/a", data: { a: 1 } })).body.ids[0];
  const known = { webhooks: webhook.id, events: sent, "event-types": "shop/a" };
  const documented = (await operationsOf(service)).map((operation) => ({ ...operation, path: operation.path.slice("/v1".length) }));
  const operations = documented.filter(({ path }) => !LEFT_OUT.test(path));
  for (const limit of ["1e400", "-1e400"]) {
    for (const { path } of operations.filter(({ method, path: at }) => method === "GET" && !at.includes("{"))) {
      const { status } = await service.rest("GET", `${path}?limit=${limit}`);
      assert.equal(status, 400, `${path} with a limit of ${limit}`);
    }
  }
  await attackInRounds(attackPlan(ROUNDS), async (random) => {
    const operation = random.pick(operations);
    const { path, body } = requestOf(random, operation, known);
    const { status, text } = await service.rest(operation.method, path, body === undefined ? {} : { body: JSON.stringify(body) });
    assert.ok(status < 500, `${operation.method} ${path.slice(0, 500)} ${JSON.stringify(body)?.slice(0, 500)}: ${status} ${text}`);
  });
  assert.equal((await call(`${service.url}/health`)).status, 200);
});

test(
  "requests that hold what is not there, or cannot be stored",
  onOneService({
    "a filter for a function that does not exist finds nothing": async (service) => {
      for (const path of ["/runs", "/failures", "/holds"]) {
        const { status, body } = await service.rest("GET", `${path}?function=unknown`);
        assert.deepEqual([status, body.data], [200, []], path);
      }
    },

    "a parameter that is given twice is no fault of the service, also where no schema describes it": async (service) => {
      for (const path of ["/v1/realtime/sse?token=a", "/v1/realtime/publish?channel=a", "/docs/search?q=a", "/oidc/callback?code=a"]) {
        const again = path.slice(path.indexOf("?") + 1);
        const { status } = await call(`${service.url}${path}&${again}`);
        assert.ok(status < 500, `${path}&${again}: ${status}`);
      }
    },

    "a text with U+0000 is refused or kept, on both engines alike": async (service) => {
      assert.equal((await service.rest("POST", "/keys", { body: { kind: "event", name: "a\0b" } })).status, 400);
      assert.equal((await service.rest("DELETE", "/keys/a%00b")).status, 400);
      assert.equal((await service.rest("GET", "/events?q=%00")).status, 400);
    },

    "a body that is not UTF-8 is refused: its other characters would be replaced": async (service) => {
      const sent = Buffer.concat([Buffer.from('{"kind":"event","name":"'), Buffer.from([0xff]), Buffer.from('"}')]);
      const { status, body } = await service.rest("POST", "/keys", { body: sent });
      assert.deepEqual([status, body.code], [400, "body_invalid"]);
    },

    "so is one in a registration": async (service) => {
      const usual = { url: "http://127.0.0.1:9/api", appName: "shop", sdk: "js:v3", framework: "node", functions: [] };
      const register = async (changes: object, deepText = "") => {
        const headers = { authorization: `Bearer ${SIGNING_KEY}` };
        const body = JSON.stringify({ ...usual, ...changes }).replace('"deep"', deepText);
        return (await call(`${service.url}/fn/register`, { method: "POST", headers, body })).status;
      };
      const given = [{ appName: "a\0b" }, { sdk: "a\0b" }, { framework: "a\0b" }, { url: "http://127.0.0.1:9/\0" }];
      const statuses = [];
      for (const changes of given) statuses.push(await register(changes));
      assert.deepEqual(statuses, [200, 200, 200, 400]);
      for (const changes of [{ appName: "a".repeat(300_000) }, { url: `http://127.0.0.1:9/${"a".repeat(300_000)}` }])
        assert.equal(await register(changes), 400, "what is too long for an index");
      const deep = "[".repeat(20_000) + "]".repeat(20_000);
      for (const changes of [{ functions: [{ id: "f", steps: "deep" }] }, { unknown: "deep" }])
        assert.equal(await register(changes, deep), 400, "what is nested very deeply");
    },
  }),
);

/** Whatever a request holds, in its path, its query or its body, it is answered or refused, on both engines. Seeded. */

import assert from "node:assert/strict";
import { attackInRounds, attackPlan, type Random } from "./support/attacks/attack-plan.ts";
import { HOSTILE_TEXTS, hostileValue, type ValueSchema } from "./support/attacks/hostile-values.ts";
import { test } from "./support/both-stores.ts";
import { call, SIGNING_KEY, startTestService, type TestService } from "./support/service.ts";
import { makeWebhook, post } from "./support/webhooks.ts";

const ROUNDS = 400;

interface Operation {
  method: string;
  path: string;
  query: readonly { name: string; schema: ValueSchema }[];
  body: ValueSchema | null;
}

/** Streams do not end, an app that is asked to register may be unreachable, and who signs out or deletes the own key is out. */
const LEFT_OUT = /\/stream$|^\/session|^\/apps$|^\/keys\/|archive$/;

async function operationsOf(service: TestService): Promise<Operation[]> {
  const document = (await call(`${service.url}/v1/openapi.json`)).body;
  const paths = resolved(document, document.paths) as Record<string, Record<string, Described>>;
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods)
      .map(([method, { parameters = [], requestBody }]) => ({
        method: method.toUpperCase(),
        path: path.slice("/v1".length),
        query: parameters.filter((parameter) => parameter.in === "query"),
        body: requestBody?.content["application/json"]?.schema ?? null,
      }))
      .filter((operation) => !LEFT_OUT.test(operation.path)),
  );
}

interface Described {
  parameters?: { in: string; name: string; schema: ValueSchema }[];
  requestBody?: { content: Record<string, { schema: ValueSchema }> };
}

function resolved(document: unknown, part: unknown): unknown {
  if (Array.isArray(part)) return part.map((item) => resolved(document, item));
  if (typeof part !== "object" || part === null) return part;
  if ("$ref" in part && typeof part.$ref === "string") {
    const found = part.$ref
      .split("/")
      .slice(1)
      .reduce<unknown>((at, key) => (at as Record<string, unknown>)[key], document);
    return resolved(document, found);
  }
  return Object.fromEntries(Object.entries(part).map(([key, value]) => [key, resolved(document, value)]));
}

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

test("every route answers or refuses whatever it is sent", { timeout: 600_000 }, async (t) => {
  const service = await startTestService(t);
  const webhook = await makeWebhook(service);
  await post(webhook.url);
  const sent = (await service.send({ name: "shop/a", data: { a: 1 } })).body.ids[0];
  const known = { webhooks: webhook.id, events: sent, "event-types": "shop/a" };
  const operations = await operationsOf(service);
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

test("a filter for a function that does not exist finds nothing", async (t) => {
  const service = await startTestService(t);
  for (const path of ["/runs", "/failures", "/holds"]) {
    const { status, body } = await service.rest("GET", `${path}?function=unknown`);
    assert.deepEqual([status, body.data], [200, []], path);
  }
});

test("a text with U+0000 is refused or kept, on both engines alike", async (t) => {
  const service = await startTestService(t);
  assert.equal((await service.rest("POST", "/keys", { body: { kind: "event", name: "a\0b" } })).status, 400);
  assert.equal((await service.rest("DELETE", "/keys/a%00b")).status, 400);
  assert.equal((await service.rest("GET", "/events?q=%00")).status, 400);
});

test("so is one in a registration", async (t) => {
  const service = await startTestService(t);
  const usual = { url: "http://127.0.0.1:9/api", appName: "shop", sdk: "js:v3", framework: "node", functions: [] };
  const register = async (changes: object) => {
    const headers = { authorization: `Bearer ${SIGNING_KEY}` };
    return (await call(`${service.url}/fn/register`, { method: "POST", headers, body: JSON.stringify({ ...usual, ...changes }) })).status;
  };
  const given = [{ appName: "a\0b" }, { sdk: "a\0b" }, { framework: "a\0b" }, { url: "http://127.0.0.1:9/\0" }];
  const statuses = [];
  for (const changes of given) statuses.push(await register(changes));
  assert.deepEqual(statuses, [200, 200, 200, 400]);
});

/**
 * A role that is restricted to environments reaches nothing outside of them. Every documented route is called by an admin, an operator and
 * a viewer of `staging`, aimed at objects of `production`: they are not found, not listed and not counted, a request that
 * names `production` is refused, and what concerns the installation needs a role that holds everywhere.
 */

import assert from "node:assert/strict";
import { test } from "./support/both-stores.ts";
import { makeEnvironmentScene } from "./support/environment-scene.ts";
import { type Answer, API_KEY, call, startTestService, type TestService } from "./support/service.ts";

const code = ({ status, body }: Answer) => [status, body?.code];

/** Routes about nothing that belongs to an environment. */
const OPEN = /^(GET|POST|DELETE) \/session$|^GET \/transforms\/providers$|^POST \/transforms\/test$|openapi/;
const INSTALLATION = /^POST \/environments$|sessions|databases/;
const QUERIES: Readonly<Record<string, string>> = {
  "GET /find": "id=",
  "GET /events/run-counts": "ids=",
  "GET /functions/figures": "ids=shop-ship",
  "GET /event-types/{name}/compare": "from=1&to=1",
};

interface Operation {
  route: string;
  method: string;
  path: string;
}

async function operations(service: TestService): Promise<Operation[]> {
  const { body } = await call(`${service.url}/v1/openapi.json`);
  return Object.entries(body.paths as Record<string, object>).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => {
      const short = path.slice("/v1".length);
      return { route: `${method.toUpperCase()} ${short}`, method: method.toUpperCase(), path: short };
    }),
  );
}

/** The request, whose response may be a stream. */
async function asked(service: TestService, { method, path }: Operation, key: string, env: string | null, body?: object): Promise<Answer> {
  const headers = { authorization: `Bearer ${key}`, ...(env !== null && { "x-service-env": env }) };
  if (!path.includes("/stream")) return service.rest(method, path, { headers, ...(body && { body }) });
  const controller = new AbortController();
  const { status, headers: given } = await fetch(`${service.url}/v1${path}`, { headers, signal: controller.signal });
  controller.abort();
  return { status, headers: given, text: "", body: undefined };
}

async function makeKey(service: TestService, extra: object): Promise<string> {
  const { status, body } = await service.rest("POST", "/keys", { body: { kind: "api", name: "k", ...extra } });
  assert.equal(status, 201, JSON.stringify(body));
  return body.data.key;
}

test("every route, for each role of another environment", async (t) => {
  const service = await startTestService(t);
  const { ids, bodies: given } = await makeEnvironmentScene(t, service);
  await service.rest("POST", "/environments", { body: { name: "orders" } });
  // An app that answered would have functions of the same names in both environments.
  const bodies: typeof given = { ...given, "POST /apps": [{ url: "http://127.0.0.1:1/api" }] };
  const aimed = (operation: Operation): Operation => {
    const [, resource = ""] = operation.path.split("/");
    const query = QUERIES[operation.route];
    const path = operation.path
      .replace("{requestId}", ids.requestId as string)
      .replace(/\{\w+\}/, encodeURIComponent(ids[resource] ?? "none"));
    return { ...operation, path: query === undefined ? path : `${path}?${query.endsWith("=") ? query + ids.events : query}` };
  };
  const all = (await operations(service)).filter(({ route }) => !OPEN.test(route)).map(aimed);
  assert.ok(all.length > 50);
  // Names that both environments may use tell nothing.
  const markers = new RegExp(
    Object.values(ids)
      .filter((id) => id.length > 20)
      .join("|"),
  );
  for (const operation of all.filter(({ method }) => method === "GET")) {
    const answer = await asked(service, operation, API_KEY, "production");
    assert.ok([200, 404].includes(answer.status), `${operation.route}: ${answer.status} ${answer.text}`);
  }
  for (const role of ["admin", "operator", "viewer"]) {
    const key = await makeKey(service, { role, environments: ["staging"] });
    const keyOfTwo = await makeKey(service, { role, environments: ["staging", "orders"] });
    for (const operation of all) {
      const { route, method } = operation;
      const says = (answer: Answer) => `${role}: ${route}: ${answer.status} ${answer.text.slice(0, 300)}`;
      for (const body of bodies[route] ?? [undefined]) {
        const named = await asked(service, operation, key, "production", body);
        const expected = route.includes("/environments/{name}") ? [403, 404] : [403];
        assert.ok(expected.includes(named.status), says(named));
        const ofTwo = await asked(service, operation, keyOfTwo, null, body);
        if (method !== "GET") assert.ok([403, 404].includes(ofTwo.status), says(ofTwo));
        else if (!INSTALLATION.test(route))
          assert.ok(ofTwo.status === 404 || (ofTwo.status === 200 && !markers.test(ofTwo.text)), says(ofTwo));
        const own = await asked(service, operation, key, "staging", body);
        if (INSTALLATION.test(route)) assert.equal(own.status, 403, says(own));
        else if (method === "GET") assert.ok(own.status === 404 || (own.status === 200 && !markers.test(own.text)), says(own));
        else if (route.includes("{"))
          assert.ok([403, 404].includes(own.status) || route.startsWith("PUT /event-types") || route.endsWith("/check"), says(own));
        else if (JSON.stringify(body ?? {}).includes("production")) assert.equal(own.status, 403, says(own));
      }
    }
  }
});

test("an admin of an environment manages its keys, and keys of no more than that", async (t) => {
  const service = await startTestService(t);
  for (const name of ["a", "a-eu", "b"]) await service.rest("POST", "/environments", { body: { name } });
  await service.rest("POST", "/environments", { body: { name: "pr-1", kind: "branch" } });
  const outside = await service.rest("POST", "/keys", { body: { kind: "event", name: "b", environment: "b" } });
  const unrestricted = await makeKey(service, { role: "viewer" });
  const key = await makeKey(service, { environments: ["a", "a-*"] });
  const rest = (method: string, path: string, body?: object, env = "a") =>
    service.rest(method, path, { headers: { authorization: `Bearer ${key}`, "x-service-env": env }, ...(body && { body }) });
  const create = (body: object) => rest("POST", "/keys", { name: "n", ...body });
  for (const body of [
    { kind: "event" },
    { kind: "signing" },
    { kind: "event", environment: "a-eu" },
    { kind: "api", role: "viewer", environments: ["a"] },
    { kind: "api", environments: ["a-eu", "a-eu-*"] },
  ]) {
    const made = await create(body);
    assert.equal(made.status, 201, made.text);
    const renamed = await rest("PUT", `/keys/${made.body.data.id}`, { name: "renamed" });
    const { key: _, ...shown } = made.body.data;
    assert.deepEqual(renamed.body.data, { ...shown, name: "renamed" });
    assert.deepEqual((await rest("GET", `/keys/${made.body.data.id}`)).body.data, renamed.body.data);
    assert.equal((await rest("DELETE", `/keys/${made.body.data.id}`)).status, 200, JSON.stringify(body));
  }
  for (const [body, refused] of [
    [{ kind: "event", environment: "b" }, "environment_forbidden"],
    [{ kind: "event", environment: "nowhere" }, "environment_forbidden"],
    [{ kind: "signing", environment: "branch" }, "environment_forbidden"],
    [{ kind: "api" }, "environment_forbidden"],
    [{ kind: "api", environments: null }, "environment_forbidden"],
    [{ kind: "api", environments: ["a", "b"] }, "environment_forbidden"],
    [{ kind: "api", environments: ["a", "nowhere"] }, "environment_forbidden"],
    [{ kind: "api", environments: ["branch"] }, "environment_forbidden"],
    [{ kind: "api", role: "owner", environments: ["a"] }, "role_forbidden"],
  ] as const)
    assert.deepEqual(code(await create(body)), [403, refused], JSON.stringify(body));
  for (const environments of [["*"], ["a*"], ["-*"], ["a-*-b"]])
    assert.deepEqual(code(await service.rest("POST", "/keys", { body: { kind: "api", name: "n", environments } })), [
      400,
      "request_invalid",
    ]);
  const mine = (await create({ kind: "api", role: "viewer", environments: ["a"] })).body.data;
  const change = (body: object) => rest("PUT", `/keys/${mine.id}`, body);
  for (const [body, refused] of [
    [{ environments: null }, [403, "environment_forbidden"]],
    [{ environments: ["a", "b"] }, [403, "environment_forbidden"]],
    [{ environments: ["nowhere"] }, [403, "environment_forbidden"]],
    [{ environments: ["a-none"] }, [400, "request_invalid"]],
    [{ role: "owner" }, [403, "role_forbidden"]],
    [{ environments: [] }, [400, "request_invalid"]],
    [{ ips: { mode: "allow", list: [] } }, [400, "request_invalid"]],
    [{ kind: "event" }, [400, "request_invalid"]],
    [{ environment: "a" }, [400, "request_invalid"]],
  ] as const)
    assert.deepEqual(code(await change(body)), refused, JSON.stringify(body));
  const widened = await change({ role: "admin", environments: ["a", "a-eu"] });
  assert.deepEqual([widened.body.data.role, widened.body.data.environments], ["admin", ["a", "a-eu"]]);
  assert.equal((await rest("DELETE", `/keys/${mine.id}`)).status, 200);
  for (const [method, body] of [["DELETE"], ["GET"], ["PUT", { name: "n" }]] as [string, object?][])
    assert.deepEqual(code(await rest(method, `/keys/${outside.body.data.id}`, body)), [404, "key_not_found"], method);
  const all = (await service.rest("GET", "/keys")).body.data as {
    id: string;
    environments?: unknown;
    kind: string;
    environment?: unknown;
  }[];
  for (const { id } of all.filter(({ kind }) => kind !== "event")) {
    const isOwn = JSON.stringify(all.find((one) => one.id === id)?.environments) === '["a","a-*"]';
    for (const [method, body] of isOwn ? [] : ([["DELETE"], ["GET"], ["PUT", { name: "n" }]] as [string, object?][]))
      assert.deepEqual(code(await rest(method, `/keys/${id}`, body)), [404, "key_not_found"], "nor those of the installation");
  }
  const seen = (await rest("GET", "/keys")).body.data as { kind: string; environment?: string | null; environments?: string[] }[];
  assert.deepEqual(
    seen.map(({ kind, environment, environments }) => [kind, environment ?? environments]),
    [
      ["api", ["a", "a-*"]],
      ["signing", "a"],
      ["event", "a"],
    ],
  );
  assert.equal((await call(`${service.url}/v1/keys`, { headers: { authorization: `Bearer ${unrestricted}` } })).status, 200);
  const operator = await makeKey(service, { role: "operator", environments: ["a"] });
  const headers = { authorization: `Bearer ${operator}`, "x-service-env": "a" };
  assert.deepEqual(code(await service.rest("POST", "/keys", { body: { kind: "event", name: "n" }, headers })), [403, "role_forbidden"]);
});

test("environments, audit log, metrics and the session show the caller's part", async (t) => {
  const service = await startTestService(t);
  for (const name of ["payments", "payments-eu", "orders"]) await service.rest("POST", "/environments", { body: { name } });
  const headers = { authorization: `Bearer ${await makeKey(service, { environments: ["payments-*"] })}` };
  const rest = (path: string) => service.rest("GET", path, { headers });
  const { body: listed } = await rest("/environments");
  assert.deepEqual(
    listed.data.map(({ name, role }: { name: string; role: string }) => [name, role]),
    [["payments-eu", "admin"]],
  );
  assert.deepEqual([(await rest("/environments/payments-eu")).status, (await rest("/environments/orders")).status], [200, 404]);
  const archive = (name: string) => service.rest("POST", `/environments/${name}/archive`, { headers });
  assert.deepEqual([(await archive("payments-eu")).status, (await archive("orders")).status], [403, 404]);
  const log = (await rest("/audit-log")).body.data as { environment: string }[];
  assert.deepEqual([...new Set(log.map(({ environment }) => environment))], ["payments-eu"]);
  assert.deepEqual(code(await service.rest("GET", "/audit-log", { headers: { ...headers, "x-service-env": "orders" } })), [
    403,
    "environment_forbidden",
  ]);
  const { data: session } = (await rest("/session")).body;
  assert.deepEqual([session.defaultEnvironment, session.environments], ["payments-eu", ["payments-*"]]);
  await service.send({ name: "a", data: {} });
  const metrics = async (authorization: string) => (await call(`${service.url}/metrics`, { headers: { authorization } })).text;
  assert.match(await metrics(`Bearer ${API_KEY}`), /inlet_events_accepted_total\{[^}]*environment="production"/);
  const mine = await metrics(headers.authorization);
  assert.doesNotMatch(mine, /environment="(?!payments-eu")/);
  assert.doesNotMatch(mine, /^inlet_store_bytes/m, "what covers the installation is left out");
  await service.rest("POST", "/environments", { body: { name: "payments-us" } });
  const find = async (id: string) => (await rest(`/find?id=${id}`)).body.data;
  for (const [env, count] of [
    ["payments-us", 1],
    ["orders", 0],
    ["production", 0],
  ] as const) {
    const { body } = await service.rest("POST", "/events", { body: { name: "a", data: {}, id: env }, headers: { "x-service-env": env } });
    for (const id of [body.data.ids[0], env]) assert.equal((await find(id)).length, count, env);
  }
  assert.deepEqual(code(await service.rest("GET", "/find?id=a", { headers: { ...headers, "x-service-env": "orders" } })), [
    403,
    "environment_forbidden",
  ]);
});

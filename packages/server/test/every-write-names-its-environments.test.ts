/**
 * Every route that writes is listed here with the environments it writes to. Each is attacked: a key restricted to `staging` aims it at
 * objects of `production`, by id and by name, with its own environment in the header and with the other one. Nothing there changes.
 * A route that is not listed fails the test.
 */

import assert from "node:assert/strict";
import { test as testOnce } from "node:test";
import Fastify from "fastify";
import { registerAccess } from "../src/api/access/rest-access.ts";
import { test } from "./support/both-stores.ts";
import { makeEnvironmentScene } from "./support/environment-scene.ts";
import { call, startTestService, type TestService } from "./support/service.ts";

/** `header`: to the environment of x-service-env, in which the object has to be. `webhook`: to that of the webhook or the key. `installation`: to all. `session`: to none. */
type Writes = "header" | "webhook" | "installation" | "session";

const WRITES: Readonly<Record<string, Writes>> = {
  "POST /jobs": "header",
  "POST /jobs/{id}/cancel": "header",
  "POST /session": "session",
  "DELETE /session": "session",
  "DELETE /sessions/{id}": "installation",
  "POST /environments": "installation",
  "POST /databases": "installation",
  "PUT /environments/{name}": "installation",
  "POST /environments/{name}/archive": "installation",
  "POST /environments/{name}/unarchive": "installation",
  "POST /environments/{name}/move": "installation",
  "POST /keys": "header",
  "PUT /keys/{id}": "webhook",
  "DELETE /keys/{id}": "webhook",
  "PUT /event-types/{name}": "header",
  "POST /event-types/{name}/check": "header",
  "POST /webhooks/{id}/requests/{requestId}/replay": "webhook",
  "POST /transforms/test": "webhook",
  "POST /webhooks/{id}/test": "webhook",
  "POST /webhooks/{id}/backtest": "webhook",
  "POST /webhooks/{id}/drill": "webhook",
  "POST /webhooks/{id}/reconcile": "webhook",
  "POST /webhooks": "header",
  "PUT /webhooks/{id}": "webhook",
  "DELETE /webhooks/{id}": "webhook",
  "POST /webhooks/{id}/rotate": "webhook",
  "PUT /saved-filters": "header",
  "DELETE /saved-filters/{list}/{name}": "header",
  "POST /alert-rules": "header",
  "PUT /alert-rules/{id}": "header",
  "DELETE /alert-rules/{id}": "header",
  "POST /runs/{id}/cancel": "header",
  "POST /runs/{id}/rerun": "header",
  "POST /runs/{id}/steps/{stepId}/wake": "header",
  "PUT /failures": "header",
  "POST /events": "header",
  "POST /functions/{id}/invoke": "header",
  "POST /functions/{id}/pause": "header",
  "PUT /functions/{id}/limits": "header",
  "POST /functions/{id}/resume": "header",
  "POST /apps": "header",
  "DELETE /apps/{id}": "header",
  "POST /signals": "header",
  "POST /approvals": "header",
  "POST /approvals/{id}": "header",
  "POST /holds/{id}/release": "header",
  "POST /runs/{id}/release": "header",
};

/** Everything of production that a write could change. */
async function contents(service: TestService): Promise<string> {
  const paths = [
    "/jobs",
    "/webhooks",
    "/alert-rules",
    "/approvals",
    "/functions",
    "/apps",
    "/event-schemas",
    "/keys",
    "/environments",
    "/runs",
    "/events",
  ];
  const lists = await Promise.all(paths.map(async (path) => (await service.rest("GET", path)).body.data));
  return JSON.stringify(lists);
}

async function writingRoutes(service: TestService): Promise<string[]> {
  const { body } = await call(`${service.url}/v1/openapi.json`);
  return Object.entries(body.paths as Record<string, object>).flatMap(([path, methods]) =>
    Object.keys(methods)
      .map((method) => method.toUpperCase())
      .filter((method) => method !== "GET")
      .map((method) => `${method} ${path.slice("/v1".length)}`),
  );
}

test("no route writes to an environment that its caller may not use", async (t) => {
  const service = await startTestService(t);
  assert.deepEqual((await writingRoutes(service)).sort(), Object.keys(WRITES).sort(), "say of each route to which environments it writes");
  const { ids, bodies } = await makeEnvironmentScene(t, service);
  const key = (await service.rest("POST", "/keys", { body: { kind: "api", name: "k", environments: ["staging"] } })).body.data.key;
  const before = await contents(service);
  for (const [route, writes] of Object.entries(WRITES)) {
    if (writes === "session") continue;
    const [method = "", path = ""] = route.split(" ");
    const [, resource = ""] = path.split("/");
    const target = path.replace("{requestId}", ids.requestId as string).replace(/\{\w+\}/, encodeURIComponent(ids[resource] ?? "none"));
    for (const env of ["staging", "production"]) {
      for (const body of bodies[route] ?? [undefined]) {
        const headers = { authorization: `Bearer ${key}`, "x-service-env": env };
        const { status, text } = await service.rest(method, target, { headers, ...(body && { body }) });
        const isOwn = writes === "header" && env === "staging" && !(body && JSON.stringify(body).match(/production|"\*"|webhook"/));
        const name = `${route} with the header ${env}: ${status} ${text.slice(0, 200)}`;
        if (!isOwn) assert.ok(status === 403 || status === 404, name);
        else if (path.includes("{id}")) assert.equal(status, 404, name);
      }
    }
  }
  assert.equal(await contents(service), before, "nothing of production has changed");
  const run = (await service.rest("GET", `/runs/${ids.runs}`)).body.data;
  assert.equal(run.status, "waiting");
});

testOnce("a service with a route that does not declare which environments it is about does not start", async () => {
  const app = Fastify();
  await assert.rejects(async () => {
    app.register(async (api) => {
      registerAccess(api, { open: true } as never);
      api.get("/declared", { config: { about: "self" } }, async () => ({}));
      api.get("/forgotten", async () => ({}));
    });
    await app.ready();
  }, /the route GET \/forgotten does not declare which environments it is about/);
});

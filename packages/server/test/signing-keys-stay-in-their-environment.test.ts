/**
 * A signing key opens its own environment only. Every route that it opens is listed here, and aimed at objects of another environment: they
 * answer as if they were not there, and a request that names that environment is refused. A route that is not listed fails the test.
 */

import assert from "node:assert/strict";
import { test as testOnce } from "node:test";
import Fastify from "fastify";
import { registerPeerApi } from "../src/api/inngest/peer-api.ts";
import { registerRealtimeRoutes } from "../src/api/realtime/realtime-routes.ts";
import { registerSdkRoutes } from "../src/api/sdk/sdk-routes.ts";
import { test } from "./support/both-stores.ts";
import { startTestService } from "./support/service.ts";
import { ask, makeSigningScene, type SigningScene } from "./support/signing-scene.ts";

/**
 * What a route does. `one`: something of the path, 404 or 410 if it is elsewhere. `run`: the same for a run, whose environment need not
 * be named. `list`: shows nothing of elsewhere. `own`: works in the key's own environment. `none`: concerns no environment.
 */
type Reach = { kind: "one" | "run" | "list" | "own" | "none"; body?: (scene: SigningScene) => unknown };

const FUNCTION = { app_id: "bare", function_id: "function" };
const REGISTRATION = { url: "http://127.0.0.1:1/api", appName: "other", functions: [], v: "0.1", deployType: "ping", sdk: "js:v3" };
const CHECKPOINT = { steps: [{ op: "StepRun", id: "forged", name: "forged", data: 1 }] };
const SECOND = ["/v2", "/api/v2"];

const ROUTES: Readonly<Record<string, Reach>> = {
  "POST /fn/register": { kind: "own", body: () => REGISTRATION },
  "GET /v0/runs/:id/batch": { kind: "run" },
  "GET /v0/runs/:id/actions": { kind: "run" },
  "POST /v1/checkpoint/:id/async": { kind: "run", body: () => CHECKPOINT },
  "POST /v1/http/runs/:id/async": { kind: "run", body: () => CHECKPOINT },
  "POST /v0/connect/start": { kind: "none", body: () => ({}) },
  "POST /v0/connect/flush": { kind: "none", body: () => ({}) },
  "POST /v1/signals": { kind: "one", body: () => ({ signal: "go" }) },
  "POST /v1/approvals": { kind: "own", body: () => ({ signal: "go on", prompt: "Go?", timeout: "1h" }) },
  "POST /v1/realtime/token": { kind: "own", body: () => [{ channel: "c", name: "t" }] },
  "POST /v1/realtime/publish": { kind: "own", body: () => ({ n: 1 }) },
  "GET /v1/events": { kind: "list" },
  "GET /v1/events/:id": { kind: "one" },
  "GET /v1/events/:id/runs": { kind: "one" },
  "GET /v1/runs/:id": { kind: "one" },
  "GET /v1/runs/:id/jobs": { kind: "one" },
  "DELETE /v1/runs/:id": { kind: "one" },
  "POST /v1/cancellations": { kind: "one", body: () => ({ ...FUNCTION, started_before: new Date().toISOString() }) },
  "GET /v1/cancellations": { kind: "list" },
  "DELETE /v1/cancellations/:id": { kind: "one" },
  "GET /v1/apps/:app/functions": { kind: "list" },
  ...Object.fromEntries(
    ["/v1", ...SECOND].flatMap((prefix): [string, Reach][] => [
      [`GET ${prefix}/apps`, { kind: "list" }],
      [`POST ${prefix}/apps/:app/functions/:fn/invoke`, { kind: "one", body: () => ({ data: {} }) }],
    ]),
  ),
  ...Object.fromEntries(
    SECOND.flatMap((prefix): [string, Reach][] => [
      [`GET ${prefix}/apps/:app`, { kind: "one" }],
      [`GET ${prefix}/apps/:app/functions`, { kind: "list" }],
      [`GET ${prefix}/apps/:app/functions/:fn`, { kind: "one" }],
    ]),
  ),
};

/** Routes that answer the same to everybody, or that ask for a token instead of a key. */
const OTHERS =
  /sandboxes|snapshots|metadata|realtime\/sse|checkpoint(\/:id\/(steps|output))?$|http\/runs(\/:id\/(steps|output|response))?$/;

function target(route: string, { eventId, runId }: SigningScene): [string, string] {
  const [method = "", path = ""] = route.split(" ");
  const id = path.startsWith("/v1/events") ? eventId : runId;
  const query = path.endsWith("/publish") ? "?channel=c&topic=t" : "";
  return [method, path.replace(":id", id).replace(":app", "bare").replace(":fn", "function") + query];
}

testOnce("every route that a signing key opens is listed here", async () => {
  const app = Fastify();
  const found: string[] = [];
  app.addHook("onRoute", ({ method, url }) => {
    for (const one of [method].flat()) if (one !== "HEAD" && !OTHERS.test(url)) found.push(`${one} ${url}`);
  });
  const [store, directory] = [{ realtimeWatch: () => undefined }, { onRefresh: () => undefined }];
  const parts = { isDev: false, drained: new AbortController().signal, store, directory } as never;
  registerSdkRoutes(app, parts);
  registerRealtimeRoutes(app, parts);
  registerPeerApi(app, parts);
  await app.ready();
  await app.close();
  const listed = Object.keys(ROUTES).filter((route) => !["POST /v1/signals", "POST /v1/approvals"].includes(route));
  assert.deepEqual([...new Set(found)].sort(), listed.sort());
});

test("with a key of another environment, every route answers as if nothing were there", async (t) => {
  const service = await startTestService(t);
  const scene = await makeSigningScene(t, service);
  const secrets = new RegExp(`${scene.eventId}|${scene.runId}|bare`);
  for (const [route, { kind, body }] of Object.entries(ROUTES)) {
    const asked = async (key: string, env?: string) => {
      const { status, text, body: answer } = await ask(service, key, target(route, scene), { env, ...(body && { body: body(scene) }) });
      return { status, text, code: answer?.code ?? answer?.errors?.[0]?.code };
    };
    const says = (answer: { status: number; text: string }) => `${route}: ${answer.status} ${answer.text.slice(0, 300)}`;
    if (kind === "none") continue;
    const other = await asked(scene.beta.signing);
    const branch = await asked(scene.branch, "pr-1");
    for (const answer of [other, branch]) {
      if (kind === "list") assert.ok(answer.status === 200 && !secrets.test(answer.text), says(answer));
      else if (kind === "own") assert.ok(answer.status < 300, says(answer));
      else assert.ok([404, 410].includes(answer.status), says(answer));
    }
    for (const key of [scene.beta.signing, scene.branch]) {
      const named = await asked(key, "alpha");
      assert.deepEqual([named.status, named.code], [403, "environment_forbidden"], says(named));
    }
    const absent = await asked(scene.beta.signing, "not-there");
    assert.deepEqual([absent.status, absent.code], [403, "environment_forbidden"], "names cannot be probed");
    const nameless = await asked(scene.branch);
    if (kind === "run") assert.ok([404, 410].includes(nameless.status), says(nameless));
    else assert.deepEqual([nameless.status, nameless.code], [400, "environment_missing"], says(nameless));
  }
  const alpha = { headers: { "x-service-env": "alpha" } };
  const run = (await service.rest("GET", `/runs/${scene.runId}`, alpha)).body.data;
  assert.deepEqual([run.status, run.steps.length], ["running", 0], "nothing has changed");
  assert.equal((await service.rest("GET", "/apps", alpha)).body.data[0].functions, 1);
  await scene.finish("done");
});

test("with the environment's own key they answer, with its name and without", async (t) => {
  const service = await startTestService(t);
  const scene = await makeSigningScene(t, service);
  const reading = Object.entries(ROUTES).filter(([route, { kind }]) => route.startsWith("GET") && kind !== "none");
  for (const [route] of reading) {
    for (const env of [undefined, "alpha"]) {
      const { status, text } = await ask(service, scene.alpha.signing, target(route, scene), { env });
      assert.equal(status, 200, `${route}: ${text}`);
    }
  }
  const checkpoint = target("POST /v1/checkpoint/:id/async", scene);
  assert.equal((await ask(service, scene.alpha.signing, checkpoint, { body: CHECKPOINT })).status, 200);
  await scene.finish("done");
});

test("a key of all branches reaches the branch that is named, and creates it by a registration that is not refused", async (t) => {
  const service = await startTestService(t);
  const { branch, finish } = await makeSigningScene(t, service);
  const register = (env: string | undefined, body: object = REGISTRATION) => ask(service, branch, ["POST", "/fn/register"], { body, env });
  const invalid = await register("pr-new", {});
  assert.deepEqual([invalid.status, invalid.body.code], [400, "registration_invalid"]);
  assert.equal((await service.rest("GET", "/environments/pr-new")).status, 404);
  assert.equal((await register("production", {})).status, 403, "what a key may not use is refused first");
  assert.equal((await register("pr-new")).status, 200);
  const [entry, ...others] = (await service.rest("GET", "/audit-log?action=environment.created&actor=signing-key")).body.data;
  assert.deepEqual(others, []);
  assert.deepEqual(
    [entry.actor.name, entry.target.id, entry.environment, entry.details],
    ["previews", "pr-new", "pr-new", { kind: "branch" }],
  );
  const [app] = (await service.rest("GET", "/apps", { headers: { "x-service-env": "pr-new" } })).body.data;
  assert.deepEqual([app.name, app.signingKey.environment], ["other", "branch"]);
  for (const [env, status, code] of [
    [undefined, 400, "environment_missing"],
    ["branch", 400, "environment_missing"],
    ["production", 403, "environment_forbidden"],
  ] as const) {
    const refused = await register(env);
    assert.deepEqual([refused.status, refused.body.code], [status, code], env);
  }
  const listed = await ask(service, branch, ["GET", "/v2/apps"], { env: "pr-1" });
  assert.deepEqual(listed.body.data, [], "another branch has none");
  await finish("done");
});

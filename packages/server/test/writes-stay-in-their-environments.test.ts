/** A write reaches only environments that its caller may use, even those that a body or an app's response names; and no role discards or signs beyond its rights. */

import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { test as nodeTest, type TestContext } from "node:test";
import { isSignatureOf, signBody } from "@inlet/protocol";
import { poll } from "./support/app.ts";
import { test } from "./support/both-stores.ts";
import { onEnd } from "./support/on-end.ts";
import { onOneService } from "./support/one-service.ts";
import { migratedDatabase, whyNoPostgres } from "./support/postgres.ts";
import { SIGNING_KEY, startTestService, type TestService } from "./support/service.ts";
import { ECHO, makeWebhook } from "./support/webhooks.ts";

async function restAs(service: TestService, extra: object): Promise<TestService["rest"]> {
  const { body } = await service.rest("POST", "/keys", { body: { kind: "api", name: "k", ...extra } });
  const headers = { authorization: `Bearer ${body.data.key}` };
  return (method, path, options = {}) => service.rest(method, path, { ...options, headers: { ...headers, ...options.headers } });
}

const STAGING = { headers: { "x-service-env": "staging" } };

test(
  "writes stay in their environments",
  onOneService({
    "a restricted key mirrors only into branches that it may use": async (service) => {
      await service.rest("POST", "/environments", { body: { name: "staging" } });
      await service.rest("POST", "/environments", { body: { name: "pr-1", kind: "branch" } });
      const mirrored = async (environments: string[], to: string[]) => {
        const rest = await restAs(service, { environments });
        const made = await rest("POST", "/webhooks", { body: { name: "w", transform: ECHO, mirror: { to } }, ...STAGING });
        const plain = await rest("POST", "/webhooks", { body: { name: "w", transform: ECHO }, ...STAGING });
        const put = await rest("PUT", `/webhooks/${plain.body.data.id}`, { body: { mirror: { to } }, ...STAGING });
        return [made.status, put.status];
      };
      for (const to of [["pr-1"], ["pr-*"], ["*"], ["pr-2"]]) assert.deepEqual(await mirrored(["staging"], to), [403, 403], to[0]);
      assert.deepEqual(await mirrored(["staging", "pr-1"], ["pr-1"]), [201, 200]);
      assert.deepEqual(await mirrored(["staging", "pr-1"], ["pr-1", "pr-*"]), [403, 403]);
      assert.deepEqual(await mirrored(["staging", "branch"], ["pr-*"]), [201, 200]);
    },

    "nor does it change a webhook that mirrors into others, unless it takes the mirror away": async (service) => {
      await service.rest("POST", "/environments", { body: { name: "staging" } });
      const mirror = { to: ["pr-1"] };
      const { body } = await service.rest("POST", "/webhooks", { body: { name: "w", transform: ECHO, mirror }, ...STAGING });
      const rest = await restAs(service, { role: "ingest-admin", environments: ["staging"] });
      const put = async (change: object) => (await rest("PUT", `/webhooks/${body.data.id}`, { body: change })).status;
      assert.equal(await put({ transform: "() => ({ name: 'forged', data: {} })" }), 403);
      assert.equal(await put({ mirror: null, transform: "() => ({ name: 'mine', data: {} })" }), 200);
      assert.equal(await put({ name: "n" }), 200);
    },

    "an app that names another environment is not registered there for a caller who may not use it": async (service, t) => {
      await service.rest("POST", "/environments", { body: { name: "staging" } });
      const operator = await restAs(service, { role: "operator", environments: ["staging"] });
      for (const env of ["production", "pr-new"]) {
        const { status, body } = await operator("POST", "/apps", { body: { url: await appNaming(t, env) }, ...STAGING });
        assert.deepEqual([status, body.code], [403, "environment_forbidden"], JSON.stringify(body));
      }
      assert.deepEqual((await service.rest("GET", "/apps")).body.data, []);
      const names = (await service.rest("GET", "/environments")).body.data.map(({ name }: { name: string }) => name);
      assert.ok(!names.includes("pr-new"), "no branch is created either");
      const own = await operator("POST", "/apps", { body: { url: await appNaming(t, "staging") }, ...STAGING });
      assert.equal(own.status, 201, own.text);
      const unrestricted = await service.rest("POST", "/apps", { body: { url: await appNaming(t, "production") }, ...STAGING });
      assert.equal(unrestricted.status, 201, unrestricted.text);
    },

    "ingest-admin neither sets retention nor lets events be refused": async (service) => {
      const rest = await restAs(service, { role: "ingest-admin" });
      const put = async (body: object) => {
        const { status, body: answer } = await rest("PUT", "/event-types/a", { body });
        return status === 200 ? status : [status, answer.code];
      };
      assert.deepEqual(await put({ retention: "1m" }), [403, "role_forbidden"]);
      assert.deepEqual(await put({ retention: null }), [403, "role_forbidden"]);
      assert.deepEqual(await put({ schema: {}, mode: "refuse" }), [403, "role_forbidden"]);
      assert.equal(await put({ schema: { type: "object" }, mode: "warn", description: "d" }), 200);
      await service.rest("PUT", "/event-types/a", { body: { mode: "refuse" } });
      assert.deepEqual(await put({ schema: { required: ["x"] } }), [403, "role_forbidden"], "events would be refused by it");
      assert.equal(await put({ mode: "warn", schema: { required: ["x"] } }), 200);
    },

    "an operator gets no signature of a body of its choice": async (service) => {
      const webhook = await makeWebhook(service, ECHO, { verify: { scheme: "github", secrets: ["a secret of the webhook"] } });
      const status = async (rest: TestService["rest"], body: object, path: string) => (await rest("POST", path, { body })).status;
      const transform = "(evt, headers) => ({ name: 'x', data: { headers } })";
      for (const [role, expected] of [
        ["operator", 403],
        ["ingest-admin", 200],
      ] as const) {
        const rest = await restAs(service, { role });
        assert.equal(await status(rest, { body: {}, sign: true }, `/webhooks/${webhook.id}/test`), expected);
        assert.equal(await status(rest, { body: {}, sign: true, webhookId: webhook.id, transform }, "/transforms/test"), expected);
        assert.equal(await status(rest, { body: {} }, `/webhooks/${webhook.id}/test`), 200);
      }
    },

    "what hmac signs covers the body, and the time if one is sent": async (service) => {
      const status = async (verify: object) => {
        const body = { name: "w", transform: ECHO, verify: { scheme: "hmac", header: "x-signature", secrets: ["a secret"], ...verify } };
        return (await service.rest("POST", "/webhooks", { body })).status;
      };
      assert.equal(await status({ signed: "{timestamp}", timestampHeader: "x-time" }), 400);
      assert.equal(await status({ signed: "{url}" }), 400);
      assert.equal(await status({ timestampHeader: "x-time" }), 400);
      assert.equal(await status({ signed: "{raw}", timestampHeader: "x-time" }), 400);
      assert.equal(await status({ signed: "{timestamp}.{raw}", timestampHeader: "x-time" }), 201);
      assert.equal(await status({}), 201);
    },
  }),
);

/** An app that is asked to register answers with its functions, and names an environment. */
async function appNaming(t: TestContext, env: string): Promise<string> {
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const asked = String(request.headers["x-inngest-signature"]);
    if (!isSignatureOf(asked, Buffer.concat(chunks).toString(), SIGNING_KEY))
      return void response.writeHead(401, { "x-inngest-sdk": "js:v3" }).end("{}");
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/api`;
    const body = JSON.stringify({ app_id: `app-${env}`, url, env, functions: [], sdk_language: "js", sdk_version: "1" });
    const signature = signBody(body, SIGNING_KEY, Math.floor(Date.now() / 1_000));
    response.writeHead(200, { "x-inngest-sdk": "js:v3", "x-inngest-sync-kind": "in_band", "x-inngest-signature": signature });
    response.end(body);
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  onEnd(t, () => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/api`;
}

/** An app that registers by itself when it is asked to, and names an environment, or none. */
async function appRegisteringIn(t: TestContext, service: TestService, env: string | null) {
  const refusals: unknown[] = [];
  const server = createServer(async (request, response) => {
    request.resume();
    const registered = await fetch(`${service.url}/fn/register${new URL(request.url ?? "", url).search}`, {
      method: "POST",
      headers: { authorization: `Bearer ${SIGNING_KEY}`, "x-inngest-sdk": "js:v3", ...(env !== null && { "x-inngest-env": env }) },
      body: JSON.stringify({ url, appName: `app-${env}`, sdk: "js:v3", framework: "node", functions: [] }),
    });
    const { code } = (await registered.json()) as { code?: string };
    if (!registered.ok) refusals.push([registered.status, code]);
    response.writeHead(registered.ok ? 200 : 500, { "x-inngest-sdk": "js:v3" }).end("{}");
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/api`;
  onEnd(t, () => {
    server.closeAllConnections();
    server.close();
  });
  return { url, refusals };
}

test("nor is one that registers by itself when such a caller asks it to", async (t) => {
  const service = await startTestService(t);
  await service.rest("POST", "/environments", { body: { name: "staging" } });
  const operator = await restAs(service, { role: "operator", environments: ["staging"] });
  for (const env of ["production", "pr-new"]) {
    const { url, refusals } = await appRegisteringIn(t, service, env);
    const { status } = await operator("POST", "/apps", { body: { url }, ...STAGING });
    assert.ok(status >= 400, `${status}`);
    assert.deepEqual(refusals, [[403, "environment_forbidden"]]);
  }
  assert.deepEqual((await service.rest("GET", "/apps")).body.data, []);
  const names = (await service.rest("GET", "/environments")).body.data.map(({ name }: { name: string }) => name);
  assert.ok(!names.includes("pr-new"), "no branch is created either");
  const own = await appRegisteringIn(t, service, "staging");
  assert.equal((await operator("POST", "/apps", { body: { url: own.url }, ...STAGING })).status, 201);
  const unrestricted = await appRegisteringIn(t, service, "production");
  assert.equal((await service.rest("POST", "/apps", { body: { url: unrestricted.url }, ...STAGING })).status, 201);
});

nodeTest("nor one that registers on another node", { skip: whyNoPostgres() ?? false }, async (t) => {
  const databaseUrl = await migratedDatabase(t);
  const here = await startTestService(t, { databaseUrl });
  const there = await startTestService(t, { databaseUrl });
  await here.rest("POST", "/environments", { body: { name: "staging" } });
  const operator = await restAs(here, { role: "operator", environments: ["staging"] });
  for (const env of ["production", "pr-new"]) {
    const { url, refusals } = await appRegisteringIn(t, there, env);
    await operator("POST", "/apps", { body: { url }, ...STAGING });
    assert.deepEqual(refusals, [[403, "environment_forbidden"]]);
  }
  assert.deepEqual((await here.rest("GET", "/apps")).body.data, []);
  await poll(async () => ((await there.rest("GET", "/events", STAGING)).status === 200 ? true : null), "the environment");
  const unnamed = await appRegisteringIn(t, there, null);
  const { status, text } = await operator("POST", "/apps", { body: { url: unnamed.url }, ...STAGING });
  assert.equal(status, 201, text);
  assert.deepEqual((await here.rest("GET", "/apps")).body.data, [], "it is registered where it was asked to");
});

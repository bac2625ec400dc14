/**
 * Signing keys of environments: how they are made and shown, which of them sign calls to apps and in which order, and that nothing is
 * sent unsigned where there is none.
 */

import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { TestContext } from "node:test";
import { isSignatureOf, signBody } from "@inlet/protocol";
import { pino } from "pino";
import { readConfig } from "../src/config/config.ts";
import { startService } from "../src/service.ts";
import { poll } from "./support/app.ts";
import { test } from "./support/both-stores.ts";
import { onEnd } from "./support/on-end.ts";
import { PATIENT_DATABASE_TIMEOUT } from "./support/process.ts";
import { endedRun } from "./support/runs.ts";
import { clientOf, SIGNING_KEY, startTestService, type TestService, temporaryFolder } from "./support/service.ts";
import { makeKeyed } from "./support/signing-scene.ts";

async function makeSigningKey(service: TestService, environment: string): Promise<{ id: string; key: string }> {
  const { status, body } = await service.rest("POST", "/keys", { body: { kind: "signing", name: "k", environment } });
  assert.equal(status, 201, JSON.stringify(body));
  return body.data;
}

async function revokeSigningKeys(service: TestService, environment: string): Promise<void> {
  const { body } = await service.rest("GET", "/keys?kind=signing", { headers: { "x-service-env": environment } });
  for (const { id } of body.data) assert.equal((await service.rest("DELETE", `/keys/${id}`)).status, 200, "the last one too");
}

/** An app without an SDK that accepts the keys given, and records which one each call was signed with. */
class SignedApp {
  url = "";
  env: string | null = null;
  readonly accepted: string[];
  readonly known: string[];
  readonly tried: (string | undefined)[] = [];

  constructor(known: string[], accepted: string[]) {
    this.known = known;
    this.accepted = [...accepted];
  }

  static async start(t: TestContext, known: string[], accepted = known): Promise<SignedApp> {
    const app = new SignedApp(known, accepted);
    const server = createServer(async (request, response) => {
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(chunk as Buffer);
      const { status, headers, body } = app.#answer(String(request.method), request.headers, Buffer.concat(chunks).toString());
      response.writeHead(status, { "x-inngest-sdk": "js:v3", ...headers }).end(body);
    }).listen(0, "127.0.0.1");
    await once(server, "listening");
    onEnd(t, () => {
      server.closeAllConnections();
      server.close();
    });
    app.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/api`;
    return app;
  }

  #answer(method: string, headers: NodeJS.Dict<string | string[]>, text: string) {
    const signature = String(headers["x-inngest-signature"]);
    const key = this.known.find((candidate) => isSignatureOf(signature, text, candidate));
    this.tried.push(key);
    if (key === undefined || !this.accepted.includes(key)) return { status: 401, headers: {}, body: "{}" };
    if (method === "POST") return { status: 200, headers: { "x-inngest-req-version": "1" }, body: '"done"' };
    const body = JSON.stringify({ app_id: "signed", url: this.url, env: this.env, functions: [this.#function()] });
    const signed = signBody(body, key, Math.floor(Date.now() / 1_000));
    return { status: 200, headers: { "x-inngest-sync-kind": "in_band", "x-inngest-signature": signed }, body };
  }

  #function() {
    const step = { id: "step", name: "step", runtime: { type: "http", url: this.url }, retries: { attempts: 20 } };
    return { id: "signed-run", name: "run", triggers: [{ event: "signed/run" }], steps: { step } };
  }

  /** The keys of the calls since the last look. */
  taken(): (string | undefined)[] {
    return this.tried.splice(0);
  }
}

test("a signing key is named after its environment, listed there, and revoked, the last one too", async (t) => {
  const service = await startTestService(t);
  const made: [environment: string, text: RegExp][] = [
    ["production", /^signkey-production-[0-9a-f]{64}$/],
    ["branch", /^signkey-branch-[0-9a-f]{64}$/],
    ["eu-1/payments", /^signkey-eu1payments-[0-9a-f]{64}$/],
    ["___", /^signkey-env-[0-9a-f]{64}$/],
  ];
  for (const name of ["eu-1/payments", "___"]) await makeKeyed(service, name);
  for (const [environment, text] of made) {
    const { key, id, ...shown } = (await service.rest("POST", "/keys", { body: { kind: "signing", name: "k", environment } })).body.data;
    assert.match(key, text);
    assert.deepEqual([shown.kind, shown.environment, shown.revokedAt], ["signing", environment, null]);
    assert.ok(key.startsWith(shown.prefix) && shown.prefix.length < key.length - 32);
    const listed = (await service.rest("GET", "/keys?kind=signing", { headers: { "x-service-env": environment } })).body.data;
    assert.ok(listed.some((one: { id: string; key?: string }) => one.id === id && one.key === undefined));
    await revokeSigningKeys(service, environment);
  }
  await service.rest("POST", "/environments", { body: { name: "pr-1", kind: "branch" } });
  const chosen = await service.rest("POST", "/keys", { body: { kind: "signing", name: "k" }, headers: { "x-service-env": "___" } });
  assert.equal(chosen.body.data.environment, "___", "without `environment`: the chosen one");
  for (const [body, status, code] of [
    [{ kind: "signing", name: "k", environment: "pr-1" }, 400, "request_invalid"],
    [{ kind: "signing", name: "k", environment: "none" }, 404, "environment_not_found"],
    [{ kind: "signing", name: "k", environment: null }, 400, "request_invalid"],
    [{ kind: "api", name: "k", environment: "___" }, 400, "request_invalid"],
  ] as const) {
    const refused = await service.rest("POST", "/keys", { body });
    assert.deepEqual([refused.status, refused.body.code], [status, code], JSON.stringify(refused.body));
  }
});

test("a custom environment comes with an event key and a signing key, shown once", async (t) => {
  const service = await startTestService(t);
  const create = () => service.rest("POST", "/environments", { body: { name: "staging" }, headers: { "idempotency-key": "one" } });
  const first = await create();
  assert.deepEqual(
    first.body.data.keys.map(({ kind, environment }: { kind: string; environment: string }) => [kind, environment]),
    [
      ["event", "staging"],
      ["signing", "staging"],
    ],
  );
  const [event] = first.body.data.keys;
  assert.equal((await service.send({ name: "a", data: {} }, { key: event.key })).status, 200);
  const { keys: _keys, ...environment } = first.body.data;
  const again = await create();
  assert.deepEqual([again.status, again.body.data], [201, environment], "repeated without them");
  const branch = await service.rest("POST", "/environments", { body: { name: "pr-1", kind: "branch" } });
  assert.equal(branch.body.data.keys, undefined);
  const { body } = await service.rest("GET", "/audit-log?action=key.created");
  assert.deepEqual(
    body.data.map(({ environment }: { environment: string }) => environment),
    ["staging", "staging"],
  );
  assert.ok(!JSON.stringify(body).includes(event.key));
});

test("calls are signed by the newest key of the app's environment; older ones and the key of every environment follow", async (t) => {
  const service = await startTestService(t, { flags: ["--retry-interval", "20ms"] });
  const { event, signing: first } = await makeKeyed(service, "alpha");
  const foreign = await makeKeyed(service, "beta");
  const { key: second, id } = await makeSigningKey(service, "alpha");
  const app = await SignedApp.start(t, [first, second, SIGNING_KEY, foreign.signing]);
  const alpha = { "x-service-env": "alpha" };
  const sync = () => service.rest("POST", "/apps", { body: { url: app.url }, headers: alpha });
  const run = async () => {
    const { body } = await service.send({ name: "signed/run", data: {} }, { key: event });
    const ended = await poll(async () => {
      const [one] = (await service.rest("GET", `/events/${body.ids[0]}/runs`, { headers: alpha })).body.data;
      return one?.endedAt ? one : null;
    }, "the run");
    assert.equal(ended.status, "completed");
    return app.taken();
  };
  assert.equal((await sync()).body.data.signingKey.id, id);
  app.taken();
  assert.deepEqual(await run(), [second]);
  app.accepted.splice(0, 4, first);
  assert.deepEqual(await run(), [second, first]);
  app.accepted.splice(0, 4, SIGNING_KEY);
  assert.deepEqual(await run(), [second, first, SIGNING_KEY], "and never with a key of another environment");
  assert.equal((await sync()).body.data.signingKey.environment, null);
  app.accepted.splice(0, 4, foreign.signing);
  const refused = await sync();
  assert.deepEqual([refused.status, refused.body.code], [502, "app_unreachable"]);
});

test("an environment without a signing key sends nothing, and says how to make one", async (t) => {
  const service = await startTestService(t, { flags: ["--retry-interval", "50ms"] });
  const app = await SignedApp.start(t, [SIGNING_KEY]);
  assert.equal((await service.rest("POST", "/apps", { body: { url: app.url } })).status, 201);
  await revokeSigningKeys(service, "production");
  app.taken();
  const { body } = await service.send({ name: "signed/run", data: {} });
  const [run] = await poll(async () => {
    const runs = (await service.rest("GET", `/events/${body.ids[0]}/runs`)).body.data;
    const detail = runs[0] && (await service.rest("GET", `/runs/${runs[0].id}`)).body.data;
    return detail?.attempts?.length > 0 ? [detail] : null;
  }, "a failed attempt");
  assert.match(
    JSON.stringify(run),
    /The environment \\"production\\" has no signing key.*inlet keys create NAME --kind signing --env production/,
  );
  const sync = await service.rest("POST", "/apps", { body: { url: app.url } });
  assert.deepEqual([sync.status, sync.body.code], [502, "app_unreachable"]);
  assert.match(sync.body.error, /has no signing key.*POST \/v1\/keys/);
  assert.deepEqual(app.taken(), [], "nothing was sent");
  const { key } = await makeSigningKey(service, "production");
  app.known.push(key);
  app.accepted.push(key);
  assert.equal((await endedRun(service, body.ids[0])).status, "completed", "the next attempt is signed");
});

test("an app that answers a sync registers in the environments of the key it was asked with", async (t) => {
  const service = await startTestService(t);
  const { signing } = await makeKeyed(service, "alpha");
  await makeKeyed(service, "beta");
  await service.rest("POST", "/environments", { body: { name: "pr-1", kind: "branch" } });
  const { key: branch } = await makeSigningKey(service, "branch");
  const app = await SignedApp.start(t, [signing, branch, SIGNING_KEY]);
  const sync = async (home: string, env: string | null, key: string) => {
    app.env = env;
    app.accepted.splice(0, 3, key);
    const { status, body } = await service.rest("POST", "/apps", { body: { url: app.url }, headers: { "x-service-env": home } });
    return [status, body.code ?? body.data.environment];
  };
  assert.deepEqual(await sync("alpha", "beta", signing), [403, "environment_forbidden"]);
  assert.deepEqual(await sync("alpha", "new", signing), [403, "environment_forbidden"]);
  assert.deepEqual(await sync("alpha", "alpha", signing), [201, "alpha"]);
  assert.deepEqual(await sync("alpha", null, signing), [201, "alpha"]);
  assert.deepEqual(await sync("pr-1", "production", branch), [403, "environment_forbidden"]);
  assert.deepEqual(await sync("pr-1", "pr-2", branch), [201, "pr-2"]);
  assert.deepEqual(await sync("pr-1", null, branch), [201, "pr-1"]);
  assert.deepEqual(await sync("alpha", "beta", SIGNING_KEY), [201, "beta"], "the key of every environment");
});

test("an installation with a key of every environment keeps it, gets no other, and is told how to move", async (t) => {
  const dataDir = temporaryFolder(t);
  const first = await startTestService(t, { dataDir });
  await first.stop();
  const database = first.databaseUrl === undefined ? [] : ["--database-url", first.databaseUrl];
  const flags = ["--port", "0", "--host", "127.0.0.1", "--data-dir", dataDir, ...database];
  const lines: string[] = [];
  const log = pino({ level: "info" }, { write: (line: string) => void lines.push(line) });
  const service = await startService(readConfig("start", flags, { INLET_DATABASE_TIMEOUT: PATIENT_DATABASE_TIMEOUT }), { log });
  onEnd(t, () => service.stop());
  assert.deepEqual(
    service.newKeys.filter(({ kind }) => kind === "signing"),
    [],
  );
  const { status, body } = await clientOf(service.url).rest("GET", "/keys?kind=signing");
  assert.deepEqual([status, body.data[0].environment, body.data[0].name], [200, null, "configured"]);
  assert.ok(lines.some((line) => line.includes("valid in every environment") && line.includes("inlet doctor")));
});

/** A signing key is whole hexadecimal of 128 bits or more. Whatever else is given, nobody gets in by the hash of what it decodes to. */

import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { test as testOnce } from "node:test";
import { pino } from "pino";
import { ConfigInvalid, readConfig } from "../src/config/config.ts";
import { adoptKey } from "../src/receive/senders/issue-key.ts";
import { startService } from "../src/service.ts";
import { openSqliteStore } from "../src/store/sqlite/sqlite-store.ts";
import { BareApp } from "./support/bare-app.ts";
import { test } from "./support/both-stores.ts";
import { onEnd } from "./support/on-end.ts";
import { onOneService } from "./support/one-service.ts";
import { openPatientStore } from "./support/postgres.ts";
import { PATIENT_DATABASE_TIMEOUT } from "./support/process.ts";
import { API_KEY, call, databaseOfTest, EVENT_KEY, SIGNING_KEY, startTestService, temporaryFolder } from "./support/service.ts";

const HASH_OF_NOTHING = createHash("sha256").digest("hex");
const REGISTRATION = { url: "http://127.0.0.1:1/api", appName: "thief", functions: [], v: "0.1", deployType: "ping", sdk: "js:v3" };

function register(url: string, bearer: string) {
  const headers = { authorization: `Bearer ${bearer}`, "content-type": "application/json" };
  return call(`${url}/fn/register`, { method: "POST", headers, body: JSON.stringify(REGISTRATION) });
}

testOnce("a text that is no signing key is refused at start, with a sentence that says how to make one", () => {
  const half = `signkey-prod-${"0a".repeat(8)}`;
  for (const text of ["my-signing-key", "signkey-prod-secret", half, `${"0a".repeat(32)}xyz`]) {
    assert.throws(
      () => readConfig("start", ["--signing-key", text], {}),
      (error) =>
        error instanceof ConfigInvalid &&
        /openssl rand -hex 32/.test(error.message) &&
        /inlet keys new/.test(error.message) &&
        !error.message.includes(text),
      text,
    );
  }
  assert.throws(() => readConfig("start", [], { INLET_SIGNING_KEY: `${SIGNING_KEY},secret` }), ConfigInvalid, "one of several");
});

test(
  "a service with a signing key",
  onOneService({
    "a worker that wants to connect is told what to do instead, if it holds the key": async (service) => {
      const start = (bearer: string) =>
        call(`${service.url}/v0/connect/start`, {
          method: "POST",
          headers: { authorization: `Bearer ${bearer}` },
          body: new Uint8Array([1]),
        });
      const { status, body } = await start(SIGNING_KEY);
      assert.deepEqual([status, body.code], [501, "connect_unsupported"]);
      assert.match(body.error, /serve\(\).*\/v1\/apps/);
      assert.equal((await start("nonsense")).status, 401);
    },

    "REST takes no key text from the caller: what it makes is whole": async (service) => {
      const chosen = await service.rest("POST", "/keys", { body: { kind: "signing", name: "mine", key: "my-signing-key" } });
      assert.deepEqual([chosen.status, chosen.body.code], [400, "request_invalid"]);
      const made = await service.rest("POST", "/keys", { body: { kind: "signing", name: "rotated" } });
      assert.match(made.body.data.key, /^signkey-production-[0-9a-f]{64}$/);
      assert.equal((await register(service.url, made.body.data.key)).status, 200);
    },

    "results that are handed in while a call goes on are in the audit log, once for each run": async (service, t) => {
      const authorization = { authorization: `Bearer ${SIGNING_KEY}` };
      const app = await BareApp.start(t);
      await app.register(service.url, authorization);
      await service.send({ name: "bare/begin", data: {} });
      const { runId, dispatch, finish } = await app.next();
      for (const id of ["a", "b"]) {
        const body = JSON.stringify({ qi_id: dispatch, steps: [{ op: "StepRun", id, name: id, data: 1 }] });
        const headers = { ...authorization, "content-type": "application/json" };
        const { status } = await call(`${service.url}/v1/checkpoint/${runId}/async`, { method: "POST", body, headers });
        assert.equal(status, 200);
      }
      await finish(null);
      const { body } = await service.rest("GET", "/audit-log?action=run.*");
      const entries = body.data.map(({ actor, target, environment, details }: Record<string, { kind?: string; id?: string }>) => [
        actor?.kind,
        target?.id,
        environment,
        details,
      ]);
      assert.deepEqual(entries, [["signing-key", runId, "production", { ip: "127.0.0.1" }]]);
    },
  }),
);

testOnce("a placeholder is refused for every kind of key", () => {
  for (const flag of ["--event-key", "--api-key", "--signing-key"])
    assert.throws(() => readConfig("start", [flag, "signkey-prod-replace-me"], {}), /is a placeholder from an example/, flag);
});

test("a stored signing key that is not hexadecimal opens nothing, by no hash, and is replaced", async (t) => {
  const dataDir = temporaryFolder(t);
  const url = await databaseOfTest(t, dataDir);
  const store = url
    ? await openPatientStore({ url })
    : openSqliteStore({ folder: dataDir, onFault: () => undefined, onRecovery: () => undefined });
  const home = { environmentId: null, role: null, environments: null, eventNames: null, ips: null, createdAt: 1 };
  for (const text of ["my-signing-key", "signkey-prod-secret", "0zz"])
    await store.keyInsert({ ...adoptKey("signing", text).key, kind: "signing", name: text, ...home });
  await store.stop();

  const flags = ["--port", "0", "--host", "127.0.0.1", "--data-dir", dataDir, "--event-key", EVENT_KEY, "--api-key", API_KEY];
  const variables = { INLET_DATABASE_TIMEOUT: PATIENT_DATABASE_TIMEOUT, ...(url && { INLET_DATABASE_URL: url }) };
  const service = await startService(readConfig("start", flags, variables), { log: pino({ level: "silent" }) });
  onEnd(t, () => service.stop());
  for (const bearer of [HASH_OF_NOTHING, `signkey-prod-${HASH_OF_NOTHING}`, "my-signing-key", "signkey-prod-secret"]) {
    const { status, body } = await register(service.url, bearer);
    assert.deepEqual([status, body.code], [401, "signing_key_invalid"], bearer);
  }
  const [made] = service.newKeys.filter(({ kind }) => kind === "signing");
  assert.ok(made, "a new one was made");
  assert.equal((await register(service.url, made.text)).status, 200);
});

test("registrations are in the audit log: by which key, from where", async (t) => {
  const service = await startTestService(t);
  for (let n = 0; n < 3; n++) assert.equal((await register(service.url, SIGNING_KEY)).status, 200);
  const { body } = await service.rest("GET", "/audit-log?actor=signing-key");
  assert.equal(body.data.length, 1, "the same again by the same key from the same address adds nothing");
  const [{ actor, action, target, environment, details }] = body.data;
  assert.deepEqual([actor.kind, actor.name, action, target.name], ["signing-key", "configured", "app.registered", "thief"]);
  assert.deepEqual([environment, details], ["production", { url: REGISTRATION.url, ip: "127.0.0.1" }]);
});

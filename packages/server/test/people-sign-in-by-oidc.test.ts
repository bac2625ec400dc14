/** People sign in with a real OpenID Connect provider: PKCE, roles by claim, sessions by name, sign-out everywhere. */

import assert from "node:assert/strict";
import { type TestContext, test as testOnce } from "node:test";
import { test } from "./support/both-stores.ts";
import { freePort } from "./support/free-port.ts";
import { browse, startProvider } from "./support/oidc.ts";
import { runInlet } from "./support/process.ts";
import { call, startTestService, type TestService, temporaryFolder } from "./support/service.ts";

type Tamper = NonNullable<Parameters<typeof browse>[2]>;

/** Changes what the browser keeps between its two visits. */
function withSecrets(change: Record<string, string | undefined>): Tamper {
  return (_url, cookies) => {
    const kept = JSON.parse(Buffer.from(cookies.get("inlet_oidc") ?? "", "base64url").toString());
    cookies.set("inlet_oidc", Buffer.from(JSON.stringify({ ...kept, ...change })).toString("base64url"));
  };
}

async function withProvider(t: TestContext, roles = "groups:ops=operator,groups:staff=viewer") {
  const port = await freePort();
  const home = `http://127.0.0.1:${port}`;
  const issuer = await startProvider(t, `${home}/oidc/callback`, { jane: ["ops", "staff"], joe: ["staff"], eve: ["elsewhere"] });
  const client = ["--oidc-issuer", issuer, "--oidc-client-id", "inlet", "--oidc-client-secret", "a-secret-of-inlet"];
  const dataDir = temporaryFolder(t);
  const start = (flags: string[]) => startTestService(t, { port, dataDir, flags });
  return {
    service: await start([...client, "--oidc-roles", roles]),
    signIn: (login: string, tamper?: Tamper) => browse(`${home}/oidc/sign-in`, login, tamper),
    /** The same installation with other roles; null: without OpenID Connect. */
    startAgain: (changed: string | null) => start(changed === null ? [] : [...client, "--oidc-roles", changed]),
  };
}

const bySession = (service: TestService, cookie: string) => (method: string, path: string, body?: object) =>
  service.rest(method, path, { headers: { authorization: "", cookie, "sec-fetch-site": "same-origin" }, ...(body && { body }) });

test("a person signs in with the highest role of their claims, is named in lists and the audit log, and signs out everywhere", async (t) => {
  const { service, signIn } = await withProvider(t);
  const as = (cookie: string) => (method: string, path: string) =>
    service.rest(method, path, { headers: { authorization: "", cookie, "sec-fetch-site": "same-origin" } });
  const [first, second] = [await signIn("jane"), await signIn("jane")];
  assert.equal(first.status, 200, first.text);
  const jane = as(first.cookie);
  const who = await jane("GET", "/session");
  assert.deepEqual([who.body.data.role, who.body.data.name], ["operator", "jane@example.com"], who.text);
  const keys = await service.rest("POST", "/keys", {
    body: { kind: "event", name: "k" },
    headers: { authorization: "", cookie: first.cookie, "sec-fetch-site": "same-origin" },
  });
  assert.equal(keys.body.code, "role_forbidden", "an operator makes no keys");
  const joe = await signIn("joe");
  assert.equal((await as(joe.cookie)("GET", "/session")).body.data.role, "viewer");

  const { body } = await service.rest("GET", "/sessions");
  const names = body.data.map(({ name, role }: { name: string; role: string }) => `${name} ${role}`);
  assert.deepEqual(names.sort(), ["jane@example.com operator", "jane@example.com operator", "joe@example.com viewer"]);
  const log = await service.rest("GET", "/audit-log?action=session.created");
  assert.deepEqual(log.body.data[0].actor.name, "joe@example.com");

  assert.equal((await jane("DELETE", "/session?everywhere=true")).status, 200);
  for (const { cookie } of [first, second]) assert.equal((await as(cookie)("GET", "/session")).status, 401);
  assert.equal((await as(joe.cookie)("GET", "/session")).status, 200, "others stay signed in");
});

test("who has no role, or comes back without having left, is refused", async (t) => {
  const { service, signIn } = await withProvider(t);
  const eve = await signIn("eve");
  assert.deepEqual([eve.status, JSON.parse(eve.text).code], [403, "role_forbidden"]);
  assert.equal((await call(`${service.url}/oidc/callback?code=x&state=y`)).body.code, "session_missing");
  const secrets = Buffer.from(JSON.stringify({ verifier: "v", state: "s", nonce: "n" })).toString("base64url");
  const forged = await call(`${service.url}/oidc/callback?code=x&state=other`, { headers: { cookie: `inlet_oidc=${secrets}` } });
  assert.equal(forged.body.code, "login_token_invalid", forged.text);
  const page = await call(`${service.url}/oidc/callback?error=access_denied`, {
    headers: { accept: "text/html,*/*", cookie: `inlet_oidc=${secrets}` },
  });
  assert.deepEqual([page.status, page.headers.get("content-type")], [401, "text/html; charset=utf-8"]);
  assert.match(page.text, /<p>The sign-in was not completed: .*<a href="\/oidc\/sign-in">Sign in again<\/a>/);
  assert.equal((await call(`${service.url}/oidc`)).body.data.enabled, true);

  const tampered: Record<string, [string, Tamper]> = {
    "another state": ["login_token_invalid", (url) => url.searchParams.set("state", "other")],
    "no state": ["login_token_invalid", (url) => url.searchParams.delete("state")],
    "a code of nobody": ["login_token_invalid", (url) => url.searchParams.set("code", "made-up")],
    "another issuer": ["login_token_invalid", (url) => url.searchParams.set("iss", "https://elsewhere.example")],
    "another verifier": ["login_token_invalid", withSecrets({ verifier: "v".repeat(43) })],
    "another nonce": ["login_token_invalid", withSecrets({ nonce: "other" })],
    "no nonce": ["session_missing", withSecrets({ nonce: undefined })],
    "no cookie": ["session_missing", (_url, cookies) => cookies.clear()],
  };
  for (const [what, [code, tamper]] of Object.entries(tampered)) {
    const { text, cookie } = await signIn("jane", tamper);
    assert.equal(JSON.parse(text).code, code, `${what}: ${text}`);
    assert.doesNotMatch(cookie, /inlet_session=/, what);
  }
  assert.deepEqual((await service.rest("GET", "/sessions")).body.data, []);
});

test("a session follows the rules in force, and ends with them", async (t) => {
  const { service, signIn, startAgain } = await withProvider(t, "groups:ops=admin");
  const { cookie } = await signIn("jane");
  const newKey = { kind: "api", name: "made by a person", role: "viewer" };
  assert.equal((await bySession(service, cookie)("POST", "/keys", newKey)).status, 201);
  await service.stop();

  const lower = await startAgain("groups:ops=viewer");
  const jane = bySession(lower, cookie);
  assert.equal((await jane("GET", "/session")).body.data.role, "viewer");
  assert.equal((await jane("POST", "/keys", newKey)).body.code, "role_forbidden");
  assert.equal((await lower.rest("GET", "/sessions")).body.data[0].role, "viewer");
  await lower.stop();

  const none = await startAgain("groups:elsewhere=viewer");
  assert.equal((await bySession(none, cookie)("GET", "/events")).body.code, "session_missing");
  await none.stop();

  const off = await startAgain(null);
  assert.equal((await bySession(off, cookie)("GET", "/events")).body.code, "session_missing");
  assert.deepEqual((await off.rest("GET", "/sessions")).body.data, []);
});

test("a session that ended with the rules does not come back with them", async (t) => {
  const { service, signIn, startAgain } = await withProvider(t, "groups:staff=viewer,groups:ops=operator");
  const [jane, joe] = [await signIn("jane"), await signIn("joe")];
  await service.stop();
  await (await startAgain("groups:ops=operator")).stop();
  const again = await startAgain("groups:staff=viewer,groups:ops=operator");
  assert.equal((await bySession(again, joe.cookie)("GET", "/events")).body.code, "session_missing");
  assert.equal((await bySession(again, jane.cookie)("GET", "/events")).status, 200, "who kept a role stays signed in");
});

test("an email that the provider has not verified gives no role", async (t) => {
  const { service, signIn } = await withProvider(t, "email:jane@example.com=admin,groups:staff=viewer");
  const stranger = await signIn("unjane");
  assert.deepEqual([stranger.status, JSON.parse(stranger.text).code], [403, "role_forbidden"]);
  const jane = await signIn("jane");
  assert.equal((await bySession(service, jane.cookie)("GET", "/session")).body.data.role, "admin");
});

test("an issuer without https is refused unless it is on this machine", async (t) => {
  const roles = ["--oidc-client-id", "inlet", "--oidc-roles", "role"];
  for (const issuer of ["http://id.example", "http://10.0.0.1", "http://localhost.example", "http://127.0.0.1.example"]) {
    const flags = ["--oidc-issuer", issuer, ...roles];
    await assert.rejects(startTestService(t, { flags }), /must be https/, issuer);
  }
  for (const host of ["localhost", "127.0.0.1", "[::1]"]) {
    const flags = ["--oidc-issuer", `http://${host}:${await freePort()}`, ...roles];
    await assert.rejects(startTestService(t, { flags }), /cannot be reached/, host);
  }
});

// This does not depend on the store.
testOnce("an issuer that cannot be reached is a clear error and exit code 1", async (t) => {
  const start = ["start", "--port", "0", "--data-dir", temporaryFolder(t), "--oidc-issuer", `http://127.0.0.1:${await freePort()}`];
  const { code, stderr } = await runInlet(t, [...start, "--oidc-client-id", "inlet", "--oidc-roles", "role"]);
  assert.equal(code, 1);
  assert.match(stderr, /error: the OpenID Connect issuer http:\/\/127\.0\.0\.1:\d+ cannot be reached, see --oidc-issuer: /);
  assert.doesNotMatch(stderr, /\n {4}at /, "no stack");
});

test("settings that are only a part of what a sign-in needs are refused", async (t) => {
  const issuer = ["--oidc-issuer", "http://127.0.0.1:9"];
  const refused = (flags: string[], message: RegExp) => assert.rejects(startTestService(t, { flags }), message);
  await refused(["--oidc-roles", "groups:ops=operator"], /need --oidc-issuer/);
  await refused(["--oidc-client-secret", "s"], /need --oidc-issuer/);
  await refused([...issuer, "--oidc-roles", "role"], /needs --oidc-client-id/);
  await refused([...issuer, "--oidc-client-id", "inlet"], /needs --oidc-roles/);
});

test("a person has in each environment the highest role that matches, and sees no other", async (t) => {
  const { service, signIn, startAgain } = await withProvider(
    t,
    "groups:ops=operator@payments,payments-*,groups:staff=viewer@payments,orders",
  );
  for (const name of ["payments", "payments-eu", "orders", "secret"]) await service.rest("POST", "/environments", { body: { name } });
  const { cookie } = await signIn("jane");
  const as = (from: TestService, env: string) => (method: string, path: string, body?: object) =>
    from.rest(method, path, {
      headers: { authorization: "", cookie, "sec-fetch-site": "same-origin", "x-service-env": env },
      ...(body && { body }),
    });
  const rule = { name: "r", kind: "failure_count", threshold: 1 };
  const tried = async (from: TestService, env: string) => {
    const read = await as(from, env)("GET", "/runs");
    const repaired = await as(from, env)("POST", "/alert-rules", rule);
    return [read.status, repaired.status, repaired.body.code ?? null];
  };
  assert.deepEqual(await tried(service, "payments"), [200, 201, null]);
  assert.deepEqual(await tried(service, "payments-eu"), [200, 201, null], "by its beginning");
  assert.deepEqual(await tried(service, "orders"), [200, 403, "role_forbidden"]);
  assert.deepEqual(await tried(service, "secret"), [403, 403, "environment_forbidden"]);
  const listed = await as(service, "orders")("GET", "/environments");
  const roles = listed.body.data.map(({ name, role }: { name: string; role: string }) => `${name} ${role}`);
  assert.deepEqual(roles.sort(), ["orders viewer", "payments operator", "payments-eu operator"]);
  assert.equal((await as(service, "orders")("POST", "/environments", { name: "mine" })).status, 403);
  await service.stop();
  const later = await startAgain("groups:staff=viewer@secret");
  assert.deepEqual(await tried(later, "payments"), [403, 403, "environment_forbidden"], "the rules in force count, not those at sign-in");
  assert.deepEqual(await tried(later, "secret"), [200, 403, "role_forbidden"]);
});

test("an environment's admin sees which rules give people roles there, and nothing of other environments", async (t) => {
  const { service } = await withProvider(t, "role,groups:staff=viewer,groups:pay=operator@payments-*,elsewhere");
  for (const name of ["payments-eu", "elsewhere"]) await service.rest("POST", "/environments", { body: { name } });
  const body = { kind: "api", name: "Payments", role: "admin", environments: ["payments-*"] };
  const authorization = `Bearer ${(await service.rest("POST", "/keys", { body })).body.data.key}`;
  const rulesIn = (env: string) => service.rest("GET", "/role-rules", { headers: { authorization, "x-service-env": env } });
  const seen = await rulesIn("payments-eu");
  assert.deepEqual(seen.body.data, [
    { claim: "role", value: null, role: null, everywhere: true },
    { claim: "groups", value: "staff", role: "viewer", everywhere: true },
    { claim: "groups", value: "pay", role: "operator", everywhere: false },
  ]);
  assert.doesNotMatch(seen.text, /elsewhere/);
  assert.equal((await rulesIn("elsewhere")).status, (await rulesIn("never-made")).status, "another environment is not there for them");
  assert.equal((await service.rest("GET", "/role-rules")).body.data.length, 2, "the rule of other environments does not apply");
});

/** Whatever an OpenID Connect provider's token endpoint answers: only a valid ID token of that provider, for us and for this sign-in, opens a session. */

import assert from "node:assert/strict";
import { generateKeyPairSync, type KeyObject, sign } from "node:crypto";
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { type TestContext, test as testOnce } from "node:test";
import { test } from "./support/both-stores.ts";
import { onEnd } from "./support/on-end.ts";
import { call, startTestService, type TestService } from "./support/service.ts";

const HOUR_S = 3_600;

interface SigningKey {
  kid: string;
  publicKey: KeyObject;
  privateKey: KeyObject;
}

/** What the provider answers; `claims` are added to those of a valid ID token. */
interface Answer {
  claims?: Record<string, unknown>;
  header?: object;
  key?: SigningKey;
  userinfo?: Record<string, unknown>;
  changeToken?(token: string): string;
}

/** How often an address may come back at once. */
const CALLBACKS_MAX = 100;

const newKey = (kid: string): SigningKey => ({ kid, ...generateKeyPairSync("ec", { namedCurve: "P-256" }) });
const base64 = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url");

class HostileProvider {
  issuer = "";
  keys = [newKey("first")];
  answer: Answer = {};
  metadata: Record<string, unknown> = {};
  tokensAsked = 0;
  #nonce = "";

  async start(t: TestContext): Promise<void> {
    const server = createServer(async (request, response) => {
      await text(request);
      response.setHeader("content-type", "application/json").end(JSON.stringify(this.#respond(request)));
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    onEnd(t, () => void server.close().closeAllConnections());
    this.issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  }

  /** As a browser does: sign-in, and back with a code. */
  async signIn(service: TestService, answer: Answer) {
    this.answer = answer;
    const begun = await fetch(`${service.url}/oidc/sign-in`, { redirect: "manual" });
    const { searchParams } = new URL(begun.headers.get("location") ?? "");
    this.#nonce = searchParams.get("nonce") ?? "";
    const cookie = begun.headers.get("set-cookie")?.split(";", 1)[0] ?? "";
    const back = await call(`${service.url}/oidc/callback?code=c&state=${searchParams.get("state")}`, { headers: { cookie } });
    const opened = /inlet_session=[\w-]+/.exec(back.headers.get("set-cookie") ?? "")?.[0] ?? null;
    return { ...back, opened };
  }

  #respond({ url }: IncomingMessage): object {
    const { issuer } = this;
    if (url === "/jwks")
      return { keys: this.keys.map(({ kid, publicKey }) => ({ ...publicKey.export({ format: "jwk" }), kid, alg: "ES256" })) };
    if (url === "/userinfo") return { sub: "jane", ...this.answer.userinfo };
    if (url === "/token") this.tokensAsked++;
    if (url === "/token") return { access_token: "a", token_type: "Bearer", id_token: this.#idToken() };
    return {
      issuer,
      authorization_endpoint: `${issuer}/authorize`,
      token_endpoint: `${issuer}/token`,
      userinfo_endpoint: `${issuer}/userinfo`,
      jwks_uri: `${issuer}/jwks`,
      id_token_signing_alg_values_supported: ["ES256", "HS256", "none"],
      ...this.metadata,
    };
  }

  #idToken(): string {
    const { claims, header, key = this.keys[0] as SigningKey, changeToken } = this.answer;
    const now = Math.floor(Date.now() / 1_000);
    const valid = { iss: this.issuer, aud: "inlet", sub: "jane", iat: now, exp: now + HOUR_S, nonce: this.#nonce, groups: ["ops"] };
    const signed = `${base64({ alg: "ES256", kid: key.kid, ...header })}.${base64({ ...valid, ...claims })}`;
    const signature = sign("sha256", Buffer.from(signed), { key: key.privateKey, dsaEncoding: "ieee-p1363" });
    const token = `${signed}.${signature.toString("base64url")}`;
    return changeToken?.(token) ?? token;
  }
}

async function start(t: TestContext, metadata: Record<string, unknown> = {}, now = Date.now) {
  const provider = new HostileProvider();
  await provider.start(t);
  provider.metadata = metadata;
  const client = ["--oidc-issuer", provider.issuer, "--oidc-client-id", "inlet", "--oidc-client-secret", "a-secret-of-inlet"];
  const service = await startTestService(t, { now, flags: [...client, "--oidc-roles", "groups:ops=operator"] });
  return { provider, service };
}

test("a token that is forged, expired, or meant for somebody else opens no session", async (t) => {
  const { provider, service } = await start(t);
  const now = Math.floor(Date.now() / 1_000);
  const [mine] = provider.keys as [SigningKey];
  const forged: Record<string, Answer> = {
    "not signed": { header: { alg: "none" }, changeToken: (token) => token.replace(/[^.]*$/, "") },
    "signed by a key of nobody": { key: { ...newKey("first") } },
    "signed by an unknown key": { key: newKey("unknown") },
    "other claims than were signed": {
      changeToken: (token) =>
        token.replace(/\.(.*)\./, (_, body) => `.${base64({ ...JSON.parse(Buffer.from(body, "base64url").toString()), sub: "root" })}.`),
    },
    "signed by a shared secret": { header: { alg: "HS256" } },
    "with a key of its own": { header: { jwk: mine.publicKey.export({ format: "jwk" }) }, key: newKey("first") },
    expired: { claims: { iat: now - 2 * HOUR_S, exp: now - HOUR_S } },
    "not valid yet": { claims: { nbf: now + HOUR_S } },
    "of another issuer": { claims: { iss: "https://elsewhere.example" } },
    "for another client": { claims: { aud: "other" } },
    "for others as well": { claims: { aud: ["inlet", "other"], azp: "other" } },
    "of another sign-in": { claims: { nonce: "used-before" } },
    "without a person": { claims: { sub: undefined } },
    "of another person than userinfo": { userinfo: { sub: "root" } },
    "no token": { changeToken: () => "x" },
  };
  for (const [what, answer] of Object.entries(forged)) {
    const { status, body, text: told, opened } = await provider.signIn(service, answer);
    assert.deepEqual([status, body?.code, opened], [401, "login_token_invalid", null], `${what}: ${told}`);
  }
  const valid = await provider.signIn(service, {});
  assert.equal(valid.status, 200, valid.text);
});

test("claims of any shape give the roles that their texts match, and no others", async (t) => {
  const { provider, service } = await start(t);
  const none = [null, 5, true, {}, { ops: true }, [["ops"]], [{ value: "ops" }], ["op", "ops "], "OPS", { 0: "ops", length: 1 }];
  for (const groups of none) {
    const { body, opened } = await provider.signIn(service, { claims: { groups } });
    assert.deepEqual([body?.code, opened], ["role_forbidden", null], JSON.stringify(groups));
  }
  const odd: Answer[] = [
    { claims: { groups: "ops" } },
    { claims: { groups: [null, 5, "ops", {}] } },
    { claims: { name: "a\u0000b\u001b[31m\ud800", email: 5, preferred_username: ["x"], groups: ["ops", "\u0000"] } },
    { claims: { name: "x".repeat(100_000), "__proto__\u0000": ["\u0000"], constructor: ["a"] } },
    { userinfo: { name: "\u0000", __proto__: null, groups: ["nobody"] } },
  ];
  for (const answer of odd) {
    const { status, text: told, opened } = await provider.signIn(service, answer);
    assert.equal(status, 200, told);
    const session = await service.rest("GET", "/session", { headers: { authorization: "", cookie: opened as string } });
    assert.equal(session.body.data?.role, "operator", session.text);
  }
  for (const path of ["/sessions", "/audit-log"]) assert.equal((await service.rest("GET", path)).status, 200);
});

// This does not depend on the store.
testOnce("a provider whose metadata is of no use is refused at the start", async (t) => {
  for (const name of ["authorization_endpoint", "token_endpoint", "jwks_uri"])
    for (const value of [undefined, "javascript:alert(1)", "/relative"])
      await assert.rejects(start(t, { [name]: value }), new RegExp(`its metadata has no valid ${name}`));
  await assert.rejects(start(t, { issuer: "https://elsewhere.example" }), /issuer does not match/);
});

testOnce("who has no account cannot make the service ask the provider without end", async (t) => {
  const begun = Date.now();
  const { provider, service } = await start(t, {}, () => begun);
  const secrets = Buffer.from(JSON.stringify({ verifier: "v".repeat(43), state: "s", nonce: "n" })).toString("base64url");
  const comeBack = () => call(`${service.url}/oidc/callback?code=c&state=s`, { headers: { cookie: `inlet_oidc=${secrets}` } });
  for (let n = 0; n < CALLBACKS_MAX; n++) assert.equal((await comeBack()).body.code, "login_token_invalid");
  assert.equal((await comeBack()).body.code, "too_many_attempts");
  assert.equal(provider.tokensAsked, CALLBACKS_MAX);
});

/** Signing in to the dashboard: what opens a session, what it may do, what ends it, and who cannot borrow it. */

import assert from "node:assert/strict";
import { request } from "node:http";
import { test } from "./support/both-stores.ts";
import { type Browser, openBrowser } from "./support/browser.ts";
import { onEnd } from "./support/on-end.ts";
import { type Cases, onOneService } from "./support/one-service.ts";
import { type Answer, API_KEY, call, startTestService, type TestService, temporaryFolder } from "./support/service.ts";

const HOUR_MS = 3_600_000;
const code = ({ status, body }: Answer) => [status, body?.code];

async function signedIn(service: TestService, apiKey = API_KEY) {
  const browser = openBrowser(service.url);
  const answer = await browser.signIn({ apiKey });
  assert.equal(answer.status, 201, answer.text);
  return browser;
}

const isOpen = async (browser: Browser) => (await browser.rest("GET", "/session")).status === 200;

const CASES: Cases = {
  async "an API key opens a session: a cookie scripts cannot read and other sites cannot send"(service) {
    const stranger = openBrowser(service.url);
    assert.deepEqual(code(await stranger.rest("GET", "/session")), [401, "session_missing"]);
    assert.deepEqual(code(await stranger.rest("GET", "/events")), [401, "api_key_missing"]);
    assert.deepEqual(code(await stranger.signIn({ apiKey: "wrong" })), [401, "api_key_invalid"]);
    assert.equal(stranger.setCookie(), null);

    const browser = await signedIn(service);
    assert.match(browser.setCookie() ?? "", /^inlet_session=[\w-]{43}; Path=\/; HttpOnly; SameSite=Strict; Max-Age=604800$/);
    assert.equal((await browser.rest("GET", "/events")).status, 200);
    const { body } = await browser.rest("GET", "/session");
    assert.deepEqual(
      [body.data.required, body.data.role, body.data.name, body.data.mode, body.data.defaultEnvironment],
      [true, "admin", "configured", "start", "production"],
    );
    assert.match(body.data.version, /^\d+\.\d+\.\d+/);
    const [, token = ""] = browser.cookie().split("=");
    assert.ok(!JSON.stringify(body).includes(token));
  },
  async "a session has the role and the limits of its key"(service) {
    const make = async (extra: object) =>
      (await service.rest("POST", "/keys", { body: { kind: "api", name: "k", ...extra } })).body.data.key;
    const read = await signedIn(service, await make({ role: "read" }));
    assert.deepEqual(code(await read.rest("POST", "/environments", { body: { name: "x" } })), [403, "role_forbidden"]);
    assert.equal((await read.rest("DELETE", "/session")).status, 200, "whoever signed in may sign out");
    await service.rest("POST", "/environments", { body: { name: "staging" } });
    const limited = await signedIn(service, await make({ environments: ["staging"] }));
    const inEnvironment = (name: string) => limited.rest("GET", "/events", { headers: { "x-service-env": name } });
    assert.deepEqual(code(await inEnvironment("production")), [403, "environment_forbidden"]);
    assert.equal((await inEnvironment("staging")).status, 200);
  },
  async "credentials for a proxy in front do not hide the cookie, an API key does"(service) {
    const [browser, stranger] = [await signedIn(service), openBrowser(service.url)];
    for (const authorization of ["Basic amFuZTpzZWNyZXQ=", 'Digest username="jane"']) {
      const headers = { authorization };
      assert.equal((await browser.rest("GET", "/events", { headers })).status, 200, authorization);
      assert.equal((await browser.rest("POST", "/environments", { headers, body: {} })).body.code, "request_invalid", authorization);
      const fromElsewhere = { headers: { ...headers, "sec-fetch-site": "cross-site" }, body: {} };
      assert.deepEqual(code(await browser.rest("POST", "/environments", fromElsewhere)), [403, "origin_forbidden"]);
      assert.deepEqual(code(await stranger.rest("GET", "/events", { headers })), [401, "api_key_missing"]);
      assert.deepEqual(code(await stranger.rest("GET", "/session", { headers })), [401, "session_missing"]);
    }
    assert.deepEqual(code(await browser.rest("GET", "/events", { headers: { authorization: "bearer wrong" } })), [401, "api_key_invalid"]);
    assert.deepEqual(code(await browser.rest("GET", "/events", { headers: { authorization: "Bearer" } })), [401, "api_key_missing"]);
  },
  async "every response tells browsers to keep it to itself: results, refusals, streams, what is not there"(service, t) {
    const controller = new AbortController();
    onEnd(t, () => controller.abort());
    for (const path of ["/v1/events", "/v1/events?no=1", "/v1/events/stream", "/v1/nothing", "/health"]) {
      const { headers } = await fetch(service.url + path, { headers: { authorization: `Bearer ${API_KEY}` }, signal: controller.signal });
      const [sniff, frame, policy] = ["x-content-type-options", "x-frame-options", "content-security-policy"].map((name) =>
        headers.get(name),
      );
      assert.deepEqual([sniff, frame, policy], ["nosniff", "DENY", "default-src 'none'; frame-ancestors 'none'"], path);
      if (path.startsWith("/v1/events")) assert.match(headers.get("cache-control") ?? "", /no-store|no-cache/, path);
      assert.equal(headers.get("access-control-allow-origin"), null, "no other site reads it");
    }
  },
  async "a live tail takes the cookie, and ends within a second when the key behind it is changed or revoked"(service, t) {
    const key = (await service.rest("POST", "/keys", { body: { kind: "api", name: "k", role: "read" } })).body.data;
    const browser = await signedIn(service, key.key);
    const controller = new AbortController();
    onEnd(t, () => controller.abort());
    const open = (headers: Record<string, string>) => fetch(`${service.url}/v1/events/stream`, { headers, signal: controller.signal });
    for (const [method, body] of [["PUT", { role: "operator" }], ["PUT", { environments: ["production"] }], ["DELETE"]] as [
      string,
      object?,
    ][]) {
      const streams = await Promise.all([open({ cookie: browser.cookie() }), open({ authorization: `Bearer ${key.key}` })]);
      assert.deepEqual(
        streams.map(({ status }) => status),
        [200, 200],
      );
      // To the end, not to an error: a browser would complain of a stream that breaks off.
      const ended = streams.map(async (stream) => {
        for await (const _chunk of stream.body as unknown as AsyncIterable<Uint8Array>);
      });
      assert.equal((await service.rest(method, `/keys/${key.id}`, body && { body })).status, 200);
      await Promise.all(ended);
    }
  },
};

test("sessions of one service", onOneService(CASES));

test("the cookie is marked Secure where the world comes by https", async (t) => {
  const publicly = await startTestService(t, { flags: ["--public-url", "https://inlet.example"] });
  const secure = await signedIn(publicly);
  assert.match(secure.setCookie() ?? "", /^__Host-inlet_session=[\w-]{43}; Path=\/; HttpOnly; SameSite=Strict; Max-Age=604800; Secure$/);
  assert.equal(await isOpen(secure), true);
  const [, token] = secure.cookie().split("=");
  const planted = await call(`${publicly.url}/v1/session`, { headers: { cookie: `inlet_session=${token}` } });
  assert.equal(planted.body.code, "session_missing", "a cookie that another host of the domain could have set");
  const proxied = await startTestService(t, { flags: ["--trust-proxy", "127.0.0.1"] });
  const browser = openBrowser(proxied.url);
  await browser.signIn({ apiKey: API_KEY }, { "x-forwarded-proto": "https" });
  assert.match(browser.setCookie() ?? "", /^__Host-.*; Secure$/);
  const plain = openBrowser((await startTestService(t)).url);
  await plain.signIn({ apiKey: API_KEY }, { "x-forwarded-proto": "https" });
  assert.doesNotMatch(plain.setCookie() ?? "", /Secure/, "nobody vouches for this header");
});

test("a login link opens one session, within a quarter of an hour", async (t) => {
  let now = Date.now();
  const service = await startTestService(t, { now: () => now });
  const loginToken = service.issueLoginToken();
  const browser = openBrowser(service.url);
  const answer = await browser.signIn({ loginToken });
  assert.deepEqual([answer.status, answer.body.data.role, answer.body.data.name], [201, "admin", "login link"]);
  assert.equal((await browser.rest("GET", "/keys")).status, 200);
  assert.deepEqual(code(await openBrowser(service.url).signIn({ loginToken })), [401, "login_token_invalid"]);

  const late = service.issueLoginToken();
  now += 15 * 60_000;
  assert.deepEqual(code(await openBrowser(service.url).signIn({ loginToken: late })), [401, "login_token_invalid"]);
  for (const body of [{}, { apiKey: API_KEY, loginToken: late }, { apiKey: "" }, { password: "x" }]) {
    assert.deepEqual(code(await browser.signIn(body as { apiKey: string })), [400, "request_invalid"], JSON.stringify(body));
  }
});

test("a session expires twelve hours after its last use", async (t) => {
  let now = Date.now();
  const service = await startTestService(t, { now: () => now });
  const browser = await signedIn(service);
  now += 12 * HOUR_MS - 1;
  assert.equal(await isOpen(browser), true);
  now += 12 * HOUR_MS - 1;
  assert.equal(await isOpen(browser), true, "each use begins the twelve hours anew");
  now += 12 * HOUR_MS;
  assert.equal(await isOpen(browser), false);
});

test("a session expires seven days after its beginning, however much it is used", async (t) => {
  const began = Date.now();
  const end = began + 7 * 24 * HOUR_MS;
  let now = began;
  const service = await startTestService(t, { now: () => now });
  const browser = await signedIn(service);
  for (; now < end - HOUR_MS; now += HOUR_MS)
    assert.equal(await isOpen(browser), true, `${(now - began) / HOUR_MS} hours after its beginning`);
  now = end - 1;
  assert.equal(await isOpen(browser), true);
  assert.equal((await service.rest("GET", "/sessions")).body.data.length, 1);
  // Used a millisecond ago: only its age can end it.
  now = end;
  assert.equal(await isOpen(browser), false);
  assert.deepEqual((await service.rest("GET", "/sessions")).body.data, []);
});

test("a session outlives a restart of the service", async (t) => {
  const dataDir = temporaryFolder(t);
  const service = await startTestService(t, { dataDir });
  const cookie = (await signedIn(service)).cookie();
  await service.stop();
  const again = await startTestService(t, { dataDir });
  assert.equal((await call(`${again.url}/v1/events`, { headers: { cookie } })).status, 200);
});

test("signing out, ending it from elsewhere and revoking its key each end a session", async (t) => {
  const service = await startTestService(t);
  const out = await signedIn(service);
  assert.equal((await out.rest("DELETE", "/session")).status, 200);
  const stolen = { headers: { cookie: out.cookie() } };
  assert.deepEqual(code(await call(`${service.url}/v1/events`, stolen)), [401, "api_key_missing"], "the browser forgot the cookie");

  const kept = await signedIn(service);
  const before = kept.cookie();
  await kept.rest("DELETE", "/session");
  assert.deepEqual(code(await call(`${service.url}/v1/events`, { headers: { cookie: before } })), [401, "session_missing"]);

  const ended = await signedIn(service);
  const { body } = await service.rest("GET", "/sessions");
  assert.equal(body.data.length, 1);
  assert.deepEqual([body.data[0].name, body.data[0].ip, body.data[0].current], ["configured", "127.0.0.1", false]);
  assert.equal((await service.rest("DELETE", `/sessions/${body.data[0].id}`)).status, 200);
  assert.deepEqual(code(await ended.rest("GET", "/events")), [401, "session_missing"]);
  assert.deepEqual(code(await service.rest("DELETE", `/sessions/${body.data[0].id}`)), [404, "session_not_found"]);

  const key = (await service.rest("POST", "/keys", { body: { kind: "api", name: "to go" } })).body.data;
  const revoked = await signedIn(service, key.key);
  assert.equal((await revoked.rest("GET", "/events")).status, 200);
  await service.rest("DELETE", `/keys/${key.id}`);
  assert.deepEqual(code(await revoked.rest("GET", "/events")), [401, "session_missing"]);
  assert.deepEqual((await service.rest("GET", "/sessions")).body.data, []);
});

test("another site's page changes nothing with the cookie", async (t) => {
  const service = await startTestService(t, { flags: ["--public-url", "https://inlet.example"] });
  const browser = await signedIn(service);
  const { host } = new URL(service.url);
  const headers = { cookie: browser.cookie(), "content-type": "application/json" };
  const attempt = (from: Record<string, string>, method = "POST") =>
    call(`${service.url}/v1/environments`, {
      method,
      headers: { ...headers, ...from },
      ...(method === "POST" && { body: JSON.stringify({ name: `e-${Math.random()}` }) }),
    });
  const foreign: Record<string, string>[] = [
    { "sec-fetch-site": "cross-site" },
    { "sec-fetch-site": "same-site" },
    { "sec-fetch-site": "none" },
    { "sec-fetch-site": "cross-site", origin: `http://${host}` },
    { origin: "https://evil.example" },
    { origin: "null" },
    { origin: `http://${host}.evil.example` },
    {},
  ];
  for (const from of foreign) assert.deepEqual(code(await attempt(from)), [403, "origin_forbidden"], JSON.stringify(from));
  const own: Record<string, string>[] = [
    { "sec-fetch-site": "same-origin" },
    { origin: `http://${host}` },
    { origin: "https://inlet.example" },
  ];
  for (const from of own) assert.equal((await attempt(from)).status, 201, JSON.stringify(from));
  assert.equal(
    (await attempt({ "sec-fetch-site": "cross-site" }, "GET")).status,
    200,
    "reading changes nothing, and its response is not theirs to see",
  );
  assert.deepEqual(code(await openBrowser(service.url).signIn({ apiKey: API_KEY }, { "sec-fetch-site": "cross-site" })), [
    403,
    "origin_forbidden",
  ]);
  const bearer = await service.rest("POST", "/environments", { body: { name: "by-key" }, headers: { origin: "https://ci.example" } });
  assert.equal(bearer.status, 201, "a page that holds a key may use it");
});

test("a dev server asks nobody to sign in, but keeps other sites' pages out", async (t) => {
  const service = await startTestService(t, { mode: "dev" });
  const { body } = await call(`${service.url}/v1/session`);
  assert.deepEqual([body.data.required, body.data.role, body.data.mode, body.data.defaultEnvironment], [false, "admin", "dev", "dev"]);
  const rotate = (headers: Record<string, string>) => call(`${service.url}/v1/environments/dev/unarchive`, { method: "POST", headers });
  assert.equal((await rotate({})).status, 200);
  assert.deepEqual(code(await rotate({ origin: "https://evil.example" })), [403, "origin_forbidden"]);
  assert.deepEqual(code(await rotate({ "sec-fetch-site": "cross-site" })), [403, "origin_forbidden"]);

  const named = (host: string) =>
    new Promise((resolve, reject) => {
      request(`${service.url}/v1/events`, { headers: { host } }, (response) => resolve(response.resume().statusCode))
        .on("error", reject)
        .end();
    });
  assert.deepEqual([await named("localhost:8288"), await named("app.localhost"), await named("[::1]:80")], [200, 200, 200]);
  assert.equal(await named("evil.example"), 403, "a name that was made to lead to 127.0.0.1");
});

test("guessing is slowed down; keys that worked from there before go on", async (t) => {
  let now = Date.now();
  const service = await startTestService(t, { now: () => now, flags: ["--trust-proxy", "127.0.0.1"] });
  const from = (ip: string, key: string) => ({ headers: { "x-forwarded-for": ip, authorization: `Bearer ${key}` } });
  assert.equal((await service.rest("GET", "/events", from("203.0.113.1", API_KEY))).status, 200);
  for (let n = 0; n < 5; n++) {
    assert.deepEqual(code(await service.rest("GET", "/events", from("203.0.113.1", `guess-${n}`))), [401, "api_key_invalid"]);
    const signIn = await openBrowser(service.url).signIn({ apiKey: `guess-${n}` }, { "x-forwarded-for": "203.0.113.1" });
    assert.deepEqual(code(signIn), [401, "api_key_invalid"]);
  }
  const spent = await service.rest("GET", "/events", from("203.0.113.1", "guess-more"));
  assert.deepEqual(code(spent), [429, "too_many_attempts"]);
  assert.equal(spent.headers.get("retry-after"), "6");
  const link = await openBrowser(service.url).signIn({ loginToken: "lt_guess" }, { "x-forwarded-for": "203.0.113.1" });
  assert.deepEqual(code(link), [429, "too_many_attempts"]);
  assert.equal((await service.rest("GET", "/events", from("203.0.113.1", API_KEY))).status, 200, "who shares the address goes on");
  assert.equal((await service.rest("GET", "/events", from("203.0.113.2", API_KEY))).status, 200);
  const fresh = (await service.rest("POST", "/keys", { body: { kind: "api", name: "fresh" }, ...from("203.0.113.2", API_KEY) })).body.data;
  assert.deepEqual(
    code(await service.rest("GET", "/events", from("203.0.113.1", fresh.key))),
    [429, "too_many_attempts"],
    "a lucky guess looks like any other",
  );
  now += 6_000;
  assert.equal((await service.rest("GET", "/events", from("203.0.113.1", fresh.key))).status, 200);
});

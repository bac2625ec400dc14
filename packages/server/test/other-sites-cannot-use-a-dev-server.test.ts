/** Any page in the developer's browser can send requests to a dev server; none gets anything done there, on whichever route. */

import assert from "node:assert/strict";
import { request } from "node:http";
import { test } from "node:test";
import { createDevGuard } from "../src/receive/connections/dev-guard.ts";
import { startTestService, type TestService } from "./support/service.ts";

const RUN = "01JCQ7V8Z0ABCDEFGHJKMNPQRS";
const ROUTES: readonly (readonly [method: string, path: string])[] = [
  ["POST", "/fn/register"],
  ["POST", `/v1/checkpoint/${RUN}/async`],
  ["POST", `/v1/http/runs/${RUN}/async`],
  ["GET", `/v0/runs/${RUN}/actions`],
  ["GET", `/v0/runs/${RUN}/batch`],
  ["GET", "/dev"],
  ["POST", "/e/any"],
  ["OPTIONS", "/v1/events"],
  ["GET", "/v1/events"],
  ["GET", "/v1/events/stream"],
  ["POST", "/v1/session"],
  ["POST", "/v1/apps"],
  ["POST", "/mcp"],
  ["GET", "/mcp"],
  ["GET", "/health"],
];
const BODY = '{"name":"a/b","data":{}}';

/** What a page of another site makes a browser send. */
const PAGES: readonly Record<string, string>[] = [
  { origin: "https://evil.example" },
  { origin: "null" },
  { origin: "http://localhost:3000" },
  { origin: "https://evil.example", "sec-fetch-site": "cross-site", "content-type": "text/plain" },
  { "sec-fetch-site": "cross-site", "sec-fetch-mode": "no-cors" },
  { "sec-fetch-site": "same-site", "sec-fetch-mode": "no-cors" },
  // Its own name leads to 127.0.0.1: for the browser it is the same site.
  { host: "evil.example", "sec-fetch-site": "same-origin" },
  { host: "evil.example", origin: "http://evil.example", "sec-fetch-site": "same-origin" },
  { host: "localhost.evil.example:8288" },
  { host: "127.0.0.1.evil.example" },
];

function ask(
  service: TestService,
  method: string,
  path: string,
  headers: Record<string, string>,
): Promise<{ status: number; text: string }> {
  return new Promise((resolve, reject) => {
    const sent = request(
      service.url + path,
      { method, headers: { "content-type": "application/json", ...headers }, agent: false },
      (response) => {
        response.once("data", (chunk) => {
          resolve({ status: response.statusCode ?? 0, text: String(chunk) });
          sent.destroy();
        });
        response.once("end", () => resolve({ status: response.statusCode ?? 0, text: "" }));
      },
    );
    sent.on("error", reject);
    sent.end(method === "POST" ? BODY : undefined);
  });
}

// This is decided before a store is asked: one engine stands for both.
test("a page of another site is refused on every route", async (t) => {
  const service = await startTestService(t, { mode: "dev" });
  for (const [method, path] of ROUTES) {
    for (const headers of PAGES) {
      const { status, text } = await ask(service, method, path, headers);
      assert.equal(status, 403, `${method} ${path} ${JSON.stringify(headers)}`);
      assert.match(text, /"origin_forbidden"/);
    }
  }
  for (const headers of PAGES) assert.equal((await ask(service, "OPTIONS", "/e/any", headers)).status, 204, "a preflight does nothing");
  assert.deepEqual((await service.rest("GET", "/events")).body.data, [], "nothing was stored");
  assert.deepEqual((await service.rest("GET", "/apps")).body.data, [], "nothing was registered");
});

test("programs, the dashboard's own pages and links to it are let through", async (t) => {
  const service = await startTestService(t, { mode: "dev", flags: ["--public-url", "https://tunnel.example"] });
  const { host } = new URL(service.url);
  const admitted: Record<string, string>[] = [
    {},
    { host: "localhost:8288" },
    { host: "app.localhost" },
    { host: "[::1]:8288" },
    { origin: `http://${host}`, "sec-fetch-site": "same-origin" },
    { host: "tunnel.example", origin: "https://tunnel.example" },
  ];
  for (const headers of admitted) {
    assert.equal((await ask(service, "POST", "/e/any", headers)).status, 200, JSON.stringify(headers));
    assert.equal((await ask(service, "GET", "/v1/events", headers)).status, 200, JSON.stringify(headers));
  }
  const link = { "sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate" };
  assert.equal((await ask(service, "GET", "/", { ...link, accept: "text/html" })).status, 200);
  assert.equal((await ask(service, "POST", "/e/any", link)).status, 403, "a form that is sent from elsewhere is no link");
});

test("--allow-origin lets a local front end in, and no other", async (t) => {
  const service = await startTestService(t, { mode: "dev", flags: ["--allow-origin", "http://localhost:3000,https://inlet.example.com/"] });
  const status = async (origin: string) => (await ask(service, "POST", "/e/any", { origin, "sec-fetch-site": "cross-site" })).status;
  assert.deepEqual([await status("http://localhost:3000"), await status("https://inlet.example.com")], [200, 200]);
  assert.deepEqual([await status("http://localhost:3001"), await status("https://inlet.example.com:444")], [403, 403]);
});

test("on a network, a dev server is called by an address or a name that no site can own, and by no other", async (t) => {
  const service = await startTestService(t, { mode: "dev", host: "0.0.0.0", flags: ["--public-url", "https://tunnel.example"] });
  const foreign = [
    "evil.example",
    "evil.example:8288",
    "local.evil.example",
    "evil-local.example",
    "10.0.0.7.evil.example",
    "evil.example:x",
  ];
  for (const host of foreign) {
    // Without https, a browser sends neither Origin nor Sec-Fetch-Site with what a page reads from its own origin.
    for (const headers of [{ host }, { host, origin: `http://${host}` }, { host, "sec-fetch-site": "same-origin" }]) {
      const { status, text } = await ask(service, "GET", "/v1/events", headers);
      assert.equal(status, 403, JSON.stringify(headers));
      assert.match(text, /"origin_forbidden"/);
      assert.match(text, /use its IP address, or start it with --public-url and that address/);
    }
  }
  const names = ["10.0.0.7:8288", "[fe80::1]:8288", "inlet:8288", "localhost", "tunnel.example"];
  const suffixes = ["local", "localhost", "internal", "test", "lan", "svc", "home.arpa", "local."].map((suffix) => `jane.${suffix}:8288`);
  for (const host of [...names, ...suffixes]) {
    for (const headers of [{ host }, { host, origin: `http://${host}`, "sec-fetch-site": "same-origin" }])
      assert.equal((await ask(service, "POST", "/e/any", headers)).status, 200, JSON.stringify(headers));
  }
});

test("on a network, a dev server is called by the name that it listens on", () => {
  const guard = createDevGuard({ host: "Dev.Jane.example", loopbackOnly: false, publicUrl: null, allowedOrigins: [] });
  const refusal = (host: string) => guard({ method: "GET", headers: { host } })?.code ?? null;
  assert.deepEqual([refusal("dev.jane.example:8288"), refusal("jane.example:8288")], [null, "origin_forbidden"]);
});

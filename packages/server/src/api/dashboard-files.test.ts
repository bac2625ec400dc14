import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { brotliCompressSync, gzipSync } from "node:zlib";
import Fastify from "fastify";
import { registerDashboardFiles } from "./dashboard-files.ts";

const SCRIPT = "console.log('the dashboard')";
const HTML = { accept: "text/html,*/*" };

function serve(t: TestContext, { built = true } = {}) {
  const folder = mkdtempSync(join(tmpdir(), "inlet-dashboard-"));
  t.after(() => rmSync(folder, { recursive: true }));
  writeFileSync(join(folder, "..", "inlet-secret.js"), "secret");
  t.after(() => rmSync(join(folder, "..", "inlet-secret.js")));
  if (built) {
    mkdirSync(join(folder, "assets"));
    writeFileSync(join(folder, "index.html"), '<meta name="csp-nonce" content="{{nonce}}" />');
    writeFileSync(join(folder, "favicon.svg"), "<svg/>");
    writeFileSync(join(folder, "assets/index-a1.js"), SCRIPT);
    writeFileSync(join(folder, "assets/index-a1.js.br"), brotliCompressSync(SCRIPT));
    writeFileSync(join(folder, "assets/index-a1.js.gz"), gzipSync(SCRIPT));
  }
  const app = Fastify();
  app.setNotFoundHandler((_request, reply) => reply.code(404).send({ code: "route_not_found" }));
  registerDashboardFiles(app, folder);
  return (url: string, headers: Record<string, string> = {}) => app.inject({ url, headers });
}

test("pages of the dashboard get the page, with a policy and a nonce of its own", async (t) => {
  const get = serve(t);
  const [first, second] = [await get("/", HTML), await get("/env/feature%2Fcart/events/01ABC?q=x", HTML)];
  assert.deepEqual([first.statusCode, second.statusCode], [200, 200]);
  assert.equal(first.headers["content-type"], "text/html; charset=utf-8");
  assert.equal(first.headers["cache-control"], "no-store");
  const nonces = [first, second].map((answer) => {
    const nonce = /content="([^"]+)"/.exec(answer.body)?.[1] ?? "";
    assert.match(nonce, /^[A-Za-z0-9+/=]{24}$/);
    assert.ok(String(answer.headers["content-security-policy"]).includes(`style-src 'self' 'nonce-${nonce}'`));
    return nonce;
  });
  assert.notEqual(nonces[0], nonces[1]);
  assert.match(String(first.headers["content-security-policy"]), /default-src 'none'; script-src 'self';/);
  assert.match(String(first.headers["content-security-policy"]), /frame-ancestors 'none'/);
});

test("assets may be kept for ever, and come compressed to those who take it", async (t) => {
  const get = serve(t);
  const brotli = await get("/assets/index-a1.js", { "accept-encoding": "gzip, deflate, br" });
  assert.equal(brotli.headers["content-encoding"], "br");
  assert.deepEqual(brotli.rawPayload, brotliCompressSync(SCRIPT));
  assert.equal(brotli.headers["cache-control"], "public, max-age=31536000, immutable");
  assert.equal(brotli.headers["content-type"], "text/javascript; charset=utf-8");
  assert.equal(brotli.headers.vary, "accept-encoding");
  assert.equal((await get("/assets/index-a1.js", { "accept-encoding": "gzip, br;q=0" })).headers["content-encoding"], "gzip");
  const plain = await get("/assets/index-a1.js");
  assert.deepEqual([plain.headers["content-encoding"], plain.body], [undefined, SCRIPT]);
  assert.equal((await get("/favicon.svg")).headers["cache-control"], "no-cache");
});

test("paths of machines stay theirs, and so does what asks for no page", async (t) => {
  const get = serve(t);
  for (const path of ["/v1/nothing", "/v1", "/e/key", "/fn/x", "/v0/x", "/dev", "/dev/x", "/health/x", "/ready/x"])
    assert.deepEqual([(await get(path, HTML)).statusCode, (await get(path, HTML)).json().code], [404, "route_not_found"], path);
  assert.equal((await get("/anything", { accept: "application/json" })).statusCode, 404);
  assert.equal((await get("/assets/gone-b2.js", HTML)).statusCode, 404, "a missing file is not answered with a page");
});

test("no path leads out of the folder", async (t) => {
  const get = serve(t);
  for (const path of ["/../inlet-secret.js", "/..%2Finlet-secret.js", "/assets/..%2f..%2finlet-secret.js", "/assets/../../inlet-secret.js"])
    assert.doesNotMatch((await get(path)).body, /secret"?$/, path);
});

test("without a build there is a page that says so", async (t) => {
  const answer = await serve(t, { built: false })("/", HTML);
  assert.equal(answer.statusCode, 200);
  assert.match(answer.body, /npm run build/);
});

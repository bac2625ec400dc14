/** `/docs`, `/llms.txt`: every page, every error code and every link leads somewhere, for everyone, and no path leads out of the folder. */

import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { connect } from "node:net";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { ERRORS } from "@inlet/protocol";
import { API_KEY, startTestService } from "./support/service.ts";

const FOLDER = fileURLToPath(new URL("../../../docs/", import.meta.url));
const PATHS = globSync("**/*.md", { cwd: FOLDER }).map((file) => file.replace(/\.md$/, ""));
const BROWSER = { headers: { accept: "text/html,*/*" } };

test("the documentation", async (t) => {
  const { url } = await startTestService(t);
  await t.test("every page is served as HTML and as Markdown, without a key, and shows no marks of Markdown", () => everyPage(url));
  await t.test("every link of every page leads to a page, a heading or an image, also below the path of a proxy", () => everyLink(url));
  await t.test("docs/index.md and llms.txt list every page once", () => everyPageIsListed(url));
  await t.test("every error code has a page, and an error of every entrance leads to its own", () => everyError(url));
  await t.test("a search finds words wherever they are, and shows what was asked as text", () => searches(url));
  await t.test("pages have headers that keep browsers safe, and are sent again only when they differ", () => headers(url));
  await t.test("an unknown page is a page for a browser and an error for a program; no path leads out of the folder", () =>
    unknownPages(url),
  );
});

async function textAt(url: string, init: RequestInit = {}) {
  const response = await fetch(url, init);
  return {
    status: response.status,
    type: response.headers.get("content-type") ?? "",
    headers: response.headers,
    text: await response.text(),
  };
}

/** What a reader sees, without code. */
function prose(html: string): string {
  return html
    .replace(/<(pre|code)\b[\s\S]*?<\/\1>/g, "")
    .replace(/<[^>]*>/g, "")
    .replaceAll("&lt;", "<");
}

async function everyPage(url: string) {
  assert.ok(PATHS.length > Object.keys(ERRORS).length);
  for (const path of PATHS) {
    const page = await textAt(`${url}/docs/${path}`);
    assert.deepEqual([page.status, page.type], [200, "text/html; charset=utf-8"], path);
    assert.doesNotMatch(prose(page.text), /\*\*|\]\(|^\s*\|[-|]|```|<!--|^#/m, path);
    const source = await textAt(`${url}/docs/${path}.md`);
    assert.deepEqual([source.status, source.type], [200, "text/markdown; charset=utf-8"], path);
    assert.equal(source.text, readFileSync(`${FOLDER}${path}.md`, "utf8"));
  }
}

async function everyLink(url: string) {
  const pages = new Map<string, string>();
  async function htmlAt(path: string): Promise<string> {
    const known = pages.get(path);
    if (known !== undefined) return known;
    const { status, text } = await textAt(url + path);
    assert.equal(status, 200, path);
    pages.set(path, text);
    return text;
  }
  for (const path of ["/docs", "/docs/", ...PATHS.map((one) => `/docs/${one}`)]) {
    const html = await htmlAt(path);
    for (const [, target = ""] of html.matchAll(/(?:href|src|action)="([^"]*)"/g)) {
      if (/^https?:/.test(target)) continue;
      assert.ok(!target.startsWith("/"), `${path}: ${target} does not work below a path`);
      const { pathname, hash } = new URL(target, `http://inlet${path}`);
      // The dashboard.
      if (pathname === "/") continue;
      const found = await htmlAt(pathname);
      if (hash) assert.ok(found.includes(` id="${decodeURIComponent(hash.slice(1))}"`), `${path}: ${target}`);
    }
  }
}

async function everyPageIsListed(url: string) {
  const { text, type } = await textAt(`${url}/llms.txt`);
  assert.equal(type, "text/plain; charset=utf-8");
  const listed = [...text.matchAll(/^- \[[^\]]+\]\(\/docs\/(.+)\.md\): \S/gm)].map(([, path]) => path);
  assert.deepEqual(listed.sort(), PATHS.filter((path) => path !== "index").sort());
}

async function everyError(url: string) {
  for (const code of Object.keys(ERRORS)) {
    const { status, text } = await textAt(`${url}/docs/errors/${code}`);
    assert.equal(status, 200, code);
    assert.match(text, new RegExp(`<h1 id="${code}">${code}</h1>`));
    assert.match(text, /<h2 id="what-to-do">/);
  }
  const refused: [string, RequestInit][] = [
    ["/e/unknown", { method: "POST", body: "{}" }],
    ["/e/test-event-key", { method: "PUT" }],
    ["/v1/events", {}],
    ["/v1/events?nope=1", { headers: { authorization: `Bearer ${API_KEY}` } }],
    ["/v1/nowhere", { headers: { authorization: `Bearer ${API_KEY}` } }],
    ["/fn/register", { method: "POST", body: "{}" }],
    ["/v1/realtime/sse?token=x", {}],
    ["/metrics", {}],
    ["/nowhere", {}],
    ["/docs/nowhere", {}],
    ["/docs/%ff", {}],
  ];
  for (const [path, init] of refused) {
    const { status, text } = await textAt(url + path, init);
    const error = JSON.parse(text);
    assert.deepEqual([error.status, error.docs], [status, `/docs/errors/${error.code}`], path);
    assert.ok(error.code in ERRORS, path);
  }
}

async function searches(url: string) {
  const search = (query: string) => textAt(`${url}/docs/search?q=${encodeURIComponent(query)}`);
  assert.match((await search("waitForEvent")).text, /href="\.\/reference\/sdk#/);
  assert.match((await search("event_key_invalid")).text, /<ul class="results"><li><a href="\.\/errors\/event_key_invalid#/);
  assert.match((await search("--BODY-limit")).text, /href="\.\/reference\/configuration#/);
  assert.match((await search("zzz-nowhere")).text, /No section contains all of these words/);
  const hostile = await search(`"><script>alert(1)</script>`);
  assert.equal(hostile.status, 200);
  assert.ok(!hostile.text.includes("<script"));
  for (const query of ["", " ", "a".repeat(5_000), "a ".repeat(3_000), "\u0000", "((((", "%"])
    assert.equal((await search(query)).status, 200);
  for (const path of ["/docs/search", "/docs/search?q=a&q=b", "/docs/search?q[x]=1"])
    assert.equal((await textAt(url + path)).status, 200, path);
}

async function headers(url: string) {
  for (const path of ["/docs", "/docs/index.md", "/docs/style.css", "/docs/search?q=a", "/llms.txt", "/docs/screenshots/event-light.png"]) {
    const { status, headers } = await textAt(url + path);
    assert.equal(status, 200, path);
    assert.match(headers.get("content-security-policy") ?? "", /^default-src 'none'; style-src 'self'; img-src 'self'; form-action 'self'/);
    assert.equal(headers.get("x-content-type-options"), "nosniff");
    assert.equal(headers.get("cache-control"), "no-cache");
    assert.equal(headers.get("set-cookie"), null);
  }
  const page = await textAt(`${url}/docs/reference/cli`);
  const etag = page.headers.get("etag") ?? assert.fail("no etag");
  const again = await textAt(`${url}/docs/reference/cli`, { headers: { "if-none-match": `"other", ${etag}` } });
  assert.deepEqual([again.status, again.text], [304, ""]);
  const head = await textAt(`${url}/docs/reference/cli`, { method: "HEAD" });
  assert.deepEqual([head.status, head.text, head.headers.get("etag")], [200, "", etag]);
  assert.equal(Number(head.headers.get("content-length")), Buffer.byteLength(page.text));
}

async function unknownPages(url: string) {
  const lost = await textAt(`${url}/docs/how-to/no/such`, BROWSER);
  assert.deepEqual([lost.status, lost.type], [404, "text/html; charset=utf-8"]);
  assert.match(lost.text, /Page not found[\s\S]*href="\.\.\/\.\.\/tutorials\/first-function"/);
  const { hostname, port } = new URL(url);
  const outside = [
    "../package.json",
    "%2e%2e/package.json",
    "..%2fpackage.json",
    "screenshots/../../package.json",
    "../docs/index.md%00",
    "//etc/passwd",
  ];
  for (const path of [...outside, "errors/..%2f..%2fREADME.md", "..\\package.json", "__proto__", "constructor"]) {
    // Not by fetch, which would resolve the dots.
    const socket = connect(Number(port), hostname);
    socket.write(`GET /docs/${path} HTTP/1.1\r\nHost: ${hostname}\r\nConnection: close\r\n\r\n`);
    const answer = (await socket.toArray()).join("");
    assert.match(answer, /^HTTP\/1\.1 40[04] /, path);
    assert.ok(!answer.includes('"workspaces"') && !answer.includes("root:"), path);
  }
}

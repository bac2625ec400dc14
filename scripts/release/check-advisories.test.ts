/** A release is checked against advisories, with npm itself and a registry on a socket of its own. */

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { type TestContext, test } from "node:test";
import { fileURLToPath } from "node:url";
import { findAdvisories } from "./check-advisories.ts";

const MAIN = fileURLToPath(new URL("./main.ts", import.meta.url));
const ADVISORIES = "/-/npm/v1/security/advisories/bulk";

async function withRegistry(t: TestContext, answer: RequestListener): Promise<NodeJS.ProcessEnv> {
  const server = createServer((request, response) => {
    request.resume();
    if (request.url === ADVISORIES) answer(request, response);
    else response.writeHead(404, { "content-type": "application/json" }).end("{}");
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  t.after(() => void server.close().closeAllConnections());
  return {
    ...process.env,
    npm_config_registry: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    npm_config_fetch_retries: "0",
  };
}

const json =
  (value: object): RequestListener =>
  (_request, response) =>
    response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(value));

test("without advisories there is nothing to say; one about a dependency is named", async (t) => {
  assert.deepEqual(await findAdvisories(await withRegistry(t, json({}))), []);
  const advisory = {
    id: 1,
    url: "https://advisories.example/1",
    title: "A hole",
    severity: "high",
    vulnerable_versions: "*",
    cwe: [],
    cvss: { score: 0 },
  };
  const found = await findAdvisories(await withRegistry(t, json({ ws: [advisory] })));
  assert.ok(
    found.some((sentence) => /^ws \(high\): A hole https:\/\/advisories\.example\/1$/.test(sentence)),
    found.join("\n"),
  );
});

test("a registry that gives no response is a reason to stop, and so is none", async (t) => {
  const refusing = await withRegistry(t, (_request, response) => response.writeHead(405).end());
  assert.match((await findAdvisories(refusing)).join(), /^the registry was not able to tell: .*405/);
  const { status, stderr, stdout } = spawnSync(process.execPath, [MAIN, "--out", "/nonexistent/dist"], {
    env: { ...refusing, npm_config_registry: "http://127.0.0.1:1" },
    encoding: "utf8",
  });
  assert.deepEqual([status, stdout], [1, ""]);
  assert.match(stderr, /not built.*--without-advisories/s);
});

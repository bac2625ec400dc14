/** A dev server registers the apps it is told of and those it finds, whichever starts first, and again when they change. */

import assert from "node:assert/strict";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { type TestContext, test as testOnce } from "node:test";
import { Inlet } from "@inlet/sdk";
import { serve } from "@inlet/sdk/node";
import { SETTINGS } from "../src/config/settings.ts";
import { PATHS, PORTS } from "../src/execute/apps/local-apps.ts";
import { type AnyFunction, poll } from "./support/app.ts";
import { test } from "./support/both-stores.ts";
import { freePort } from "./support/free-port.ts";
import { onEnd } from "./support/on-end.ts";
import { EVENT_KEY, SIGNING_KEY, startTestService, type TestService } from "./support/service.ts";

interface LateApp {
  url: string;
  client: Inlet;
  functions: AnyFunction[];
  start(): Promise<void>;
}

/** An app whose address is known before it listens. */
async function lateApp(t: TestContext): Promise<LateApp> {
  const port = await freePort();
  const app: LateApp = {
    url: `http://127.0.0.1:${port}/api/inlet`,
    client: new Inlet({ id: "late", isDev: true }),
    functions: [],
    async start() {
      const server = createServer((request, response) => void serve({ client: app.client, functions: app.functions })(request, response));
      await new Promise<void>((resolve) => server.listen(port, "127.0.0.1", resolve));
      onEnd(t, () => {
        server.closeAllConnections();
        server.close();
      });
    },
  };
  return app;
}

function functionsAre(service: TestService, ids: string[]): Promise<true> {
  return poll(
    async () => {
      const { body } = await service.rest("GET", "/functions");
      const found = body.data.map(({ id }: { id: string }) => id);
      return JSON.stringify(found.sort()) === JSON.stringify(ids) ? true : null;
    },
    `the functions ${ids.join(", ")}`,
  );
}

test("an app named with --app-url is registered when it starts, and again when its functions change", async (t) => {
  const app = await lateApp(t);
  const service = await startTestService(t, { mode: "dev", flags: ["--app-url", app.url] });
  app.client = new Inlet({ id: "late", isDev: true, baseUrl: service.url });
  app.functions = [app.client.createFunction({ id: "one" }, { event: "late/one" }, () => 1)];
  await app.start();
  await functionsAre(service, ["late-one"]);
  app.functions = [...app.functions, app.client.createFunction({ id: "two" }, { event: "late/two" }, () => 2)];
  await functionsAre(service, ["late-one", "late-two"]);
});

test("a service that signs its calls asks the apps named in its settings until they have registered", async (t) => {
  const app = await lateApp(t);
  const service = await startTestService(t, { flags: ["--app-url", app.url] });
  app.client = new Inlet({ id: "late", baseUrl: service.url, signingKey: SIGNING_KEY, eventKey: EVENT_KEY });
  app.functions = [app.client.createFunction({ id: "one" }, { event: "late/one" }, () => 1)];
  assert.deepEqual((await service.rest("GET", "/functions")).body.data, []);
  await app.start();
  await functionsAre(service, ["late-one"]);
});

testOnce("the setting names the ports and paths at which it looks", () => {
  const { sentence } = SETTINGS.discover;
  const named = new Set<number>();
  for (const [, from = "", to = from] of (sentence.split("paths")[0] ?? "").matchAll(/(\d+)(?: to (\d+))?/g))
    for (let port = Number(from); port <= Number(to); port++) named.add(port);
  assert.deepEqual([...named], PORTS);
  for (const path of PATHS) assert.ok(sentence.includes(path), path);
});

test("a sync that fails names what is wrong: the path, the app's own settings, or the app", async (t) => {
  const service = await startTestService(t, { mode: "dev" });
  const answers: Record<string, { status: number; headers: Record<string, string>; body: string }> = {
    "/no-sdk": { status: 200, headers: {}, body: "<h1>Welcome</h1>" },
    "/nothing": { status: 404, headers: {}, body: "Cannot PUT /nothing" },
    "/elsewhere": { status: 200, headers: { "x-service-sdk": "js:v0.1.0" }, body: "{}" },
    "/broken": { status: 500, headers: { "x-service-sdk": "js:v0.1.0" }, body: '{"message":"INLET_SIGNING_KEY is not set"}' },
  };
  const server = createServer((request, response) => {
    const { status, headers, body } = answers[new URL(request.url ?? "", "http://app").pathname] ?? { status: 500, headers: {}, body: "" };
    response.writeHead(status, headers).end(body);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onEnd(t, () => new Promise((resolve) => server.close(resolve)));
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const sync = async (url: string) => (await service.rest("POST", "/apps", { body: { url } })).body.error as string;
  assert.match(await sync(`${origin}/no-sdk`), /answered with status 200, but no SDK serves functions at \/no-sdk/);
  assert.match(await sync(`${origin}/nothing`), /status 404 \(Cannot PUT \/nothing\), but no SDK serves functions at \/nothing/);
  assert.match(await sync(`${origin}/elsewhere`), /registered with another server: its INLET_BASE_URL/);
  assert.match(await sync(`${origin}/broken`), /The app answered with status 500: INLET_SIGNING_KEY is not set/);
});

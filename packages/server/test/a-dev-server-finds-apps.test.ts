/** A dev server registers the apps it is told of and those it finds, whichever starts first, and again when they change. */

import assert from "node:assert/strict";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { type TestContext, test } from "node:test";
import { Inlet } from "@inlet/sdk";
import { serve } from "@inlet/sdk/node";
import { type AnyFunction, poll } from "./support/app.ts";
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
  const reserved = createServer();
  await new Promise<void>((resolve) => reserved.listen(0, "127.0.0.1", resolve));
  const { port } = reserved.address() as AddressInfo;
  await new Promise((resolve) => reserved.close(resolve));
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

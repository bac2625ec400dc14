import assert from "node:assert/strict";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { type TestContext, test } from "node:test";
import { findLocalApps } from "./local-apps.ts";

/** More than a busy machine takes to respond. */
const PATIENT = { connectMs: 60_000, askMs: 60_000 };

async function listen(t: TestContext, answer: RequestListener): Promise<number> {
  const server = createServer(answer);
  await new Promise<void>((resolve) => server.listen(0, "localhost", resolve));
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return (server.address() as AddressInfo).port;
}

test("an app is found where an SDK answers, and nothing else is taken for one", async (t) => {
  const app = await listen(t, (request, response) => {
    if (request.url === "/api/inngest") response.setHeader("x-inngest-sdk", "js:v4");
    response.end("{}");
  });
  const website = await listen(t, (_request, response) => response.end("hello"));
  const closed = await listen(t, (_request, response) => response.end());
  const found = await findLocalApps(() => null, 0, [app, website, closed], PATIENT);
  assert.deepEqual(found, [`http://localhost:${app}/api/inngest`]);
});

test("what is known is not asked again, and the service does not find itself", async (t) => {
  let asked = 0;
  const app = await listen(t, (_request, response) => {
    asked++;
    response.setHeader("x-service-sdk", "js:v0.1.0").end("{}");
  });
  assert.deepEqual(await findLocalApps(() => "answers", 0, [app]), []);
  assert.deepEqual(await findLocalApps(() => null, app, [app]), []);
  assert.equal(asked, 0);
});

test("an app is found beside one that answered at this port before, and whose path is gone", async (t) => {
  const port = await listen(t, (request, response) => {
    if (request.url === "/api/inngest") response.setHeader("x-inngest-sdk", "js:v4");
    response.end("{}");
  });
  const found = (state: "answers" | "fails") => findLocalApps((url) => (url.endsWith("/api/inlet") ? state : null), 0, [port], PATIENT);
  assert.deepEqual(await found("answers"), []);
  assert.deepEqual(await found("fails"), [`http://localhost:${port}/api/inngest`]);
});

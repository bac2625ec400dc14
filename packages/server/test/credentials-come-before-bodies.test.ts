/** Nobody makes the service read a body before it knows who sends it; what is read then counts against one budget, whichever the route. */

import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { RawConnection } from "./support/raw-http.ts";
import { API_KEY, call, EVENT_KEY, SIGNING_KEY, startTestService, type TestService } from "./support/service.ts";

const RUN = "01JCQ7V8Z0ABCDEFGHJKMNPQRS";
const MIB = 1024 * 1024;

function head(path: string, bytes: number, headers: readonly string[] = []): string {
  return [`POST ${path} HTTP/1.1`, "Host: t", "Content-Type: application/json", `Content-Length: ${bytes}`, ...headers, "", ""].join(
    "\r\n",
  );
}

/** What is answered when the head has been sent, and nothing of the body. */
async function answerToHead(t: TestContext, service: TestService, path: string, bytes: number, headers: readonly string[] = []) {
  const connection = new RawConnection(t, service.url);
  await connection.write(head(path, bytes, headers));
  const answer = await connection.answer();
  assert.ok(answer, `${path} was not answered`);
  connection.socket.destroy();
  return [answer.status, JSON.parse(answer.body).code];
}

// This is decided before a store is asked: one engine stands for both.
test("a wrong or missing credential is refused before a byte of the body has come", async (t) => {
  const service = await startTestService(t);
  const sdkRoutes = ["/fn/register", `/v1/checkpoint/${RUN}/async`, `/v1/http/runs/${RUN}/async`];
  for (const path of sdkRoutes) {
    assert.deepEqual(await answerToHead(t, service, path, 3 * MIB), [401, "signing_key_invalid"], path);
    const wrong = ["Authorization: Bearer signkey-prod-00"];
    assert.deepEqual(await answerToHead(t, service, path, 3 * MIB, wrong), [401, "signing_key_invalid"], path);
  }
  assert.deepEqual(await answerToHead(t, service, "/v1/webhooks", MIB), [401, "api_key_missing"]);
  assert.deepEqual(await answerToHead(t, service, "/e/no-such-key", MIB), [401, "event_key_invalid"]);
});

test("a body that is too long is refused by its declared length", async (t) => {
  const service = await startTestService(t);
  const signed = [`Authorization: Bearer ${SIGNING_KEY}`];
  assert.deepEqual(await answerToHead(t, service, "/v1/session", 4_096), [413, "body_too_large"], "a sign-in is no longer than a key");
  assert.deepEqual(await answerToHead(t, service, "/fn/register", 5 * MIB, signed), [413, "body_too_large"]);
  assert.deepEqual(await answerToHead(t, service, "/v1/webhooks", 2 * MIB, [`Authorization: Bearer ${API_KEY}`]), [413, "body_too_large"]);
  assert.deepEqual(await answerToHead(t, service, `/e/${EVENT_KEY}`, MIB), [413, "body_too_large"]);
});

test("bodies of every route share one budget, and give it back", async (t) => {
  const service = await startTestService(t, { flags: ["--queue-limit", "1mb"] });
  const event = JSON.stringify({ name: "a/b", data: { text: "x".repeat(200_000) } });
  const routes = [
    ["/fn/register", `Authorization: Bearer ${SIGNING_KEY}`],
    ["/v1/webhooks", `Authorization: Bearer ${API_KEY}`],
  ] as const;
  for (const [path, authorization] of routes) {
    const stalled = new RawConnection(t, service.url);
    await stalled.write(head(path, 950_000, [authorization]) + " ".repeat(949_999));
    await arrived(service);
    await until(async () => (await service.send(event)).status === 503, `${path} is held, so there is no room`);
    const refused = new RawConnection(t, service.url);
    await refused.write(head("/fn/register", 400_000, [`Authorization: Bearer ${SIGNING_KEY}`]) + " ".repeat(400_000));
    const answer = await refused.answer();
    assert.deepEqual([answer?.status, JSON.parse(answer?.body ?? "{}").code], [503, "overloaded"]);
    stalled.socket.destroy();
    await until(async () => (await service.send(event)).status === 200, `${path} is gone, so there is room`);
  }
});

test("a body of unknown length counts as it arrives", async (t) => {
  const service = await startTestService(t, { flags: ["--queue-limit", "1mb"] });
  const event = JSON.stringify({ name: "a/b", data: { text: "x".repeat(200_000) } });
  const stalled = new RawConnection(t, service.url);
  const chunk = `${(950_000).toString(16)}\r\n${" ".repeat(950_000)}\r\n`;
  await stalled.write(
    `POST /fn/register HTTP/1.1\r\nHost: t\r\nAuthorization: Bearer ${SIGNING_KEY}\r\nTransfer-Encoding: chunked\r\n\r\n${chunk}`,
  );
  await arrived(service);
  await until(async () => (await service.send(event)).status === 503, "it is held");
});

/** What was written before is read before: once these are answered, it is held. */
async function arrived(service: TestService): Promise<void> {
  for (let n = 0; n < 20; n++) await call(`${service.url}/health`);
}

async function until(condition: () => Promise<boolean>, what: string): Promise<void> {
  const deadline = Date.now() + 60_000;
  while (!(await condition())) assert.ok(Date.now() < deadline, what);
}

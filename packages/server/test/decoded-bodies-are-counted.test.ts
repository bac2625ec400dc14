/** A small compressed body may stand for very much: what it may become counts before it is decoded. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { gzipSync } from "node:zlib";
import { RawConnection } from "./support/raw-http.ts";
import { until } from "./support/runs.ts";
import { call, EVENT_KEY, SIGNING_KEY, startTestService } from "./support/service.ts";
import { makeWebhook } from "./support/webhooks.ts";

const TRANSFORM = "(evt) => ({ name: 'a/b', data: { n: evt.n } })";
/** Of the 1,048,576 bytes for all bodies: what is left is less than a body may be. */
const HELD_BYTES = 800_000;

// This is decided before a store is asked: one engine stands for both.
test("a compressed body that might not fit beside others is refused at once, and accepted when there is room", async (t) => {
  const service = await startTestService(t, { flags: ["--queue-limit", "1mb", "--body-limit", "400kb"] });
  const { url } = await makeWebhook(service, TRANSFORM);
  const post = (n: number) => {
    const body = gzipSync(JSON.stringify({ n, text: "x".repeat(300_000) }));
    assert.ok(body.length < 1_000, "it is small on the wire");
    return call(url, { method: "POST", body, headers: { "content-type": "application/json", "content-encoding": "gzip" } });
  };
  const large = { name: "a/b", data: { text: "x".repeat(300_000) } };
  const head = `POST /fn/register HTTP/1.1\r\nHost: t\r\nAuthorization: Bearer ${SIGNING_KEY}\r\nContent-Type: application/json\r\nContent-Length: ${HELD_BYTES}\r\n\r\n`;
  const stalled = new RawConnection(t, service.url);
  await stalled.write(head + " ".repeat(HELD_BYTES - 1));
  // What was written before is read before: once these are answered, it is held.
  for (let n = 0; n < 20; n++) await call(`${service.url}/health`);
  assert.equal((await service.send(large)).status, 503, "a body that does not end is held");
  const refused = await post(0);
  assert.deepEqual([refused.status, refused.body.code], [503, "overloaded"]);
  const small = JSON.stringify({ n: 0, text: "x".repeat(1_000) });
  const plain = await call(url, { method: "POST", body: small, headers: { "content-type": "application/json" } });
  assert.equal(plain.status, 200, "a body of that size that is not compressed fits");
  stalled.socket.destroy();
  await until("room for it", async () => (await post(0)).status === 200 || undefined);

  const together = await Promise.all(Array.from({ length: 12 }, (_, n) => post(n)));
  assert.ok(together.every(({ status, body }) => status === 200 || body.code === "overloaded"));
  assert.ok(together.some(({ status }) => status === 200));
  for (let n = 0; n < 3; n++) assert.equal((await post(n)).status, 200, "what was taken is given back");
  assert.equal((await service.send(large)).status, 200);
});

test("a key that is longer than any is refused before it is looked at", async (t) => {
  for (const mode of ["start", "dev"] as const) {
    const service = await startTestService(t, { mode });
    const { status, body } = await service.send({ name: "a/b", data: {} }, { key: "k".repeat(513) });
    assert.deepEqual([status, body.code], [401, "event_key_invalid"]);
    assert.equal((await service.send({ name: "a/b", data: {} }, { key: EVENT_KEY })).status, 200);
  }
});

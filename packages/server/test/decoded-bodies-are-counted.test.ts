/** A small compressed body may stand for very much: what it may become counts before it is decoded. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { gzipSync } from "node:zlib";
import { call, EVENT_KEY, startTestService } from "./support/service.ts";
import { makeWebhook } from "./support/webhooks.ts";

const SLOW =
  "function transform(evt) { const end = Date.now() + 100; while (Date.now() < end); return { name: 'a/b', data: { n: evt.n } }; }";

// This is decided before a store is asked: one engine stands for both.
test("compressed bodies that would not fit together are refused at once, and accepted one after the other", async (t) => {
  const service = await startTestService(t, { flags: ["--queue-limit", "1mb", "--body-limit", "400kb"] });
  const { url } = await makeWebhook(service, SLOW);
  const post = (n: number) => {
    const body = gzipSync(JSON.stringify({ n, text: "x".repeat(300_000) }));
    assert.ok(body.length < 1_000, "it is small on the wire");
    return call(url, { method: "POST", body, headers: { "content-type": "application/json", "content-encoding": "gzip" } });
  };
  const together = await Promise.all(Array.from({ length: 12 }, (_, n) => post(n)));
  const refused = together.filter(({ status }) => status === 503);
  assert.ok(refused.length >= 6, `${refused.length} of 12 were refused`);
  assert.ok(refused.every(({ body }) => body.code === "overloaded"));
  assert.ok(together.some(({ status }) => status === 200));
  for (let n = 0; n < 3; n++) assert.equal((await post(n)).status, 200, "what was taken is given back");
  assert.equal((await service.send({ name: "a/b", data: { text: "x".repeat(300_000) } })).status, 200);
});

test("a key that is longer than any is refused before it is looked at", async (t) => {
  for (const mode of ["start", "dev"] as const) {
    const service = await startTestService(t, { mode });
    const { status, body } = await service.send({ name: "a/b", data: {} }, { key: "k".repeat(513) });
    assert.deepEqual([status, body.code], [401, "event_key_invalid"]);
    assert.equal((await service.send({ name: "a/b", data: {} }, { key: EVENT_KEY })).status, 200);
  }
});

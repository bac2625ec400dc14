/** A page of what a provider lists ends in time, and a provider that asks to wait is waited for, within bounds. */

import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { type TestContext, test } from "node:test";
import { AppAddresses } from "../src/execute/call/app-addresses.ts";
import { AppCaller } from "../src/execute/call/call-app.ts";
import { askPage, type PageLimits } from "../src/reconcile/ask-page.ts";

/** Asks a provider that answers like this. */
async function startProvider(t: TestContext, answer: RequestListener) {
  const server = createServer(answer).listen(0, "127.0.0.1");
  await once(server, "listening");
  const caller = new AppCaller({ timeoutMs: 60_000, connectionsMax: 1, addresses: new AppAddresses(null) });
  t.after(async () => {
    await caller.stop();
    server.closeAllConnections();
    server.close();
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  return (limits: Partial<PageLimits> = {}, stopping: AbortSignal = new AbortController().signal) =>
    askPage(
      { fetch: (request) => caller.fetch({ ...request, peer: "provider" }), now: Date.now, limits },
      { url, method: "GET", headers: {}, body: null },
      stopping,
    );
}

test("a page that takes longer than its time ends, whether nothing comes or a body without end", async (t) => {
  let hasHeaders = false;
  const ask = await startProvider(t, (_request, response) => {
    if (hasHeaders) response.writeHead(200).write("{");
    hasHeaders = true;
  });
  const tooLong = /^Error: The provider did not answer within 0.3 s\.$/;
  await assert.rejects(ask({ timeoutMs: 300 }), tooLong);
  await assert.rejects(ask({ timeoutMs: 300 }), tooLong);
});

test("a page that is larger than it may be ends", async (t) => {
  const ask = await startProvider(t, (_request, response) => response.end("x".repeat(5_000)));
  assert.equal((await ask({ bytesMax: 5_000 })).body.length, 5_000);
  await assert.rejects(ask({ bytesMax: 4_999 }), /^NoResponse: The provider's response is larger/);
});

test("429 and 503 are waited for as the provider asks, and any other response is for the reader", async (t) => {
  const answers: [number, Record<string, string>][] = [
    [429, { "retry-after": "0" }],
    [200, {}],
    [503, { "retry-after": new Date(Date.now() - 60_000).toUTCString() }],
    [200, {}],
    [429, {}],
    [503, { "retry-after": "soon" }],
    [429, { "retry-after": "-5" }],
    [500, { "retry-after": "1" }],
  ];
  const ask = await startProvider(t, (_request, response) => {
    const [status, headers] = answers.shift() ?? [404, {}];
    response.writeHead(status, headers).end("{}");
  });
  for (const status of [200, 200, 429, 503, 429, 500]) assert.equal((await ask()).status, status);
  assert.deepEqual(answers, []);
});

test("a provider is waited for only so long, however long it asks for, and not while the service stops", async (t) => {
  let asked = 0;
  const seconds = ["0", "0", "9999"];
  const ask = await startProvider(t, (_request, response) => {
    asked++;
    response.writeHead(429, { "retry-after": seconds[Math.min(asked, seconds.length) - 1] as string }).end();
  });
  const begun = performance.now();
  await assert.rejects(ask({ waitMs: 1_500 }), /^Error: The provider still answered 429 after 1.5 s of waiting as it asked\.$/);
  assert.equal(asked, 4, "at once, after 1 s although the provider asked for no wait, and after what was left");
  assert.ok(performance.now() - begun >= 1_490);
  const stopping = new AbortController();
  const waiting = ask({ waitMs: 600_000 }, stopping.signal);
  while (asked < 5) await new Promise((resolve) => setImmediate(resolve));
  stopping.abort();
  await assert.rejects(waiting);
});

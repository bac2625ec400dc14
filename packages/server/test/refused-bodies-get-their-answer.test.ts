/** A client that is refused while it still sends a large body gets the response, not a broken connection, and is not waited for. */

import assert from "node:assert/strict";
import { once } from "node:events";
import { type IncomingMessage, request } from "node:http";
import { test } from "node:test";
import { startInlet } from "./support/process.ts";
import { RawConnection } from "./support/raw-http.ts";
import { API_KEY, EVENT_KEY, startTestService, temporaryFolder } from "./support/service.ts";

const BODY = Buffer.alloc(10_000_000, " ");
const TRIES = 10;

/** Writes the whole body at once, as most programs do. */
async function statusByHttp(url: string, method: string, headers: Record<string, string>): Promise<number | undefined> {
  const sent = request(url, { method, headers: { ...headers, "content-length": BODY.length } });
  sent.end(BODY);
  const [response] = (await once(sent, "response")) as [IncomingMessage];
  // What the client is told after the response does no harm: it has what it needs.
  sent.on("error", () => undefined);
  response.on("error", () => undefined).resume();
  return response.statusCode;
}

async function statusByFetch(url: string, method: string, headers: Record<string, string>): Promise<number> {
  const response = await fetch(url, { method, headers, body: BODY });
  assert.equal(JSON.parse(await response.text()).status, response.status, "the body of the response is whole");
  return response.status;
}

// This is decided before a store is asked: one engine stands for both. In a process of its own, a service writes and reads while its client does.
test("every client that is refused in the middle of its body gets the response", { timeout: 300_000 }, async (t) => {
  const flags = ["--port", "0", "--host", "127.0.0.1", "--data-dir", temporaryFolder(t), "--event-key", EVENT_KEY, "--api-key", API_KEY];
  const { url } = await startInlet(t, ["start", ...flags]);
  const json = { "content-type": "application/json" };
  const cases = [
    ["POST", `/e/${EVENT_KEY}`, json, 413],
    ["POST", "/e/no-such-key", json, 401],
    ["PUT", `/e/${EVENT_KEY}`, json, 405],
    ["POST", "/v1/webhooks", { ...json, authorization: `Bearer ${API_KEY}` }, 413],
    ["POST", "/v1/webhooks", json, 401],
    ["POST", "/no/such/route", json, 413],
  ] as const;
  for (const [method, path, headers, expected] of cases) {
    for (let n = 0; n < TRIES; n++) {
      assert.equal(await statusByFetch(url + path, method, headers), expected, `fetch ${method} ${path}`);
      assert.equal(await statusByHttp(url + path, method, headers), expected, `http.request ${method} ${path}`);
    }
  }
});

const head = (path: string, bytes: number) => `POST ${path} HTTP/1.1\r\nHost: t\r\nContent-Length: ${bytes}\r\n\r\n`;

/** Resolves when the other side has destroyed the connection: it resets the connection at the next byte. */
async function destroyed({ socket }: RawConnection): Promise<void> {
  const poke = setInterval(() => socket.write(" "), 50);
  if (!socket.destroyed) await new Promise((resolve) => socket.once("close", resolve));
  clearInterval(poke);
}

test("a sender that goes on, or stands still, is disconnected", { timeout: 60_000 }, async (t) => {
  const { url } = await startTestService(t);
  for (const rest of ["", " ".repeat(100_000), " ".repeat(20_000_000)]) {
    const connection = new RawConnection(t, url);
    void connection.write(head("/e/no-such-key", 50_000_000) + rest);
    assert.equal((await connection.answer())?.status, 401);
    await destroyed(connection);
  }
});

test("a request that follows one that was refused early is not served", { timeout: 60_000 }, async (t) => {
  const service = await startTestService(t);
  const event = '{"name":"a/b","data":{}}';
  const connection = new RawConnection(t, service.url);
  await connection.write(head("/e/no-such-key", 100_000));
  assert.equal((await connection.answer())?.status, 401);
  void connection.write(" ".repeat(100_000) + head(`/e/${EVENT_KEY}`, event.length) + event);
  await destroyed(connection);
  const { body } = await service.rest("GET", "/events");
  assert.deepEqual(body.data, []);
});

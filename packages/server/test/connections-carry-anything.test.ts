/** However requests are cut into pieces, strung together and mixed on a connection, each gets its own response, in order. */

import assert from "node:assert/strict";
import { test } from "./support/both-stores.ts";
import { onOneService } from "./support/one-service.ts";
import { RawConnection } from "./support/raw-http.ts";
import { call, EVENT_KEY, type TestService } from "./support/service.ts";

/** Of a case, whose events are named after it. */
const eventOf = (name: string) => (n: number) => JSON.stringify({ name, data: { n } });

function post(body: string, headers: readonly string[] = [], key = EVENT_KEY): string {
  const lines = [`POST /e/${key} HTTP/1.1`, "Host: inlet.test", `Content-Length: ${body.length}`, ...headers];
  return `${lines.join("\r\n")}\r\n\r\n${body}`;
}

const chunked = (body: string) =>
  `POST /e/${EVENT_KEY} HTTP/1.1\r\nHost: inlet.test\r\nTransfer-Encoding: chunked\r\n\r\n${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`;
const OTHER = "GET /health HTTP/1.1\r\nHost: inlet.test\r\n\r\n";

/** The `n` of every event of a name that is stored, in order. */
async function stored(service: TestService, name: string): Promise<number[]> {
  const found: number[] = [];
  for (let cursor: string | null = ""; cursor !== null; ) {
    const { body } = await service.rest("GET", `/events?limit=100&name=${name}${cursor && `&cursor=${cursor}`}`);
    found.push(...body.data.map(({ data }: { data: { n: number } }) => data.n));
    cursor = body.page.next;
  }
  return found.sort((a, b) => a - b);
}

const upTo = (count: number) => Array.from({ length: count }, (_, n) => n);

async function statuses(connection: RawConnection, count: number): Promise<(number | undefined)[]> {
  const all: (number | undefined)[] = [];
  for (let n = 0; n < count; n++) all.push((await connection.answer())?.status);
  return all;
}

test(
  "connections to one service",
  onOneService({
    "a request may be cut anywhere, between others that are not": async (service, t) => {
      const event = eventOf("cut");
      const cuts = post(event(1)).length;
      for (let cut = 1; cut < cuts; cut++) {
        const connection = new RawConnection(t, service.url);
        const request = post(event(1));
        await connection.write(post(event(0)));
        assert.equal((await connection.answer())?.status, 200);
        await connection.write(request.slice(0, cut));
        // What was written before is read before: once this is answered, the first piece has arrived.
        await call(`${service.url}/health`);
        await connection.write(request.slice(cut) + post(event(2)));
        assert.deepEqual(await statuses(connection, 2), [200, 200], `cut after ${cut} bytes`);
        connection.socket.destroy();
      }
      const all = await stored(service, "cut");
      assert.deepEqual(
        [0, 1, 2].map((n) => all.filter((other) => other === n).length),
        [cuts - 1, cuts - 1, cuts - 1],
      );
    },

    "requests may be strung together: each is answered, in order": async (service, t) => {
      const event = eventOf("strung");
      const connection = new RawConnection(t, service.url);
      await connection.write(post(event(0)) + post(event(1)) + post("nonsense") + post(event(2)));
      assert.deepEqual(await statuses(connection, 4), [200, 200, 400, 200]);
      const next = new RawConnection(t, service.url);
      // Each comes while the one before it is being stored.
      for (const n of [3, 4, 5]) await next.write(post(event(n)));
      assert.deepEqual(await statuses(next, 3), [200, 200, 200]);
      assert.deepEqual(await stored(service, "strung"), upTo(6));
    },

    "one connection carries events, other requests, and bodies of unknown length, in any order": async (service, t) => {
      const event = eventOf("mixed");
      const connection = new RawConnection(t, service.url);
      const requests = [
        post(event(0)),
        post(event(1)),
        OTHER,
        post(event(2)),
        chunked(event(3)),
        OTHER,
        post(event(4), ["X-A: 1", "X-A: 2"]),
      ];
      for (const request of requests) {
        await connection.write(request);
        assert.equal((await connection.answer())?.status, 200, request);
      }
      const together = new RawConnection(t, service.url);
      await together.write([post(event(5)), OTHER, post(event(6))].join(""));
      assert.deepEqual(await statuses(together, 3), [200, 200, 200]);
      assert.deepEqual(await stored(service, "mixed"), upTo(7));
    },

    "who asks to close, speaks an older version, or wants to be told to go on, is served": async (service, t) => {
      const event = eventOf("closing");
      const connection = new RawConnection(t, service.url);
      await connection.write(post(event(0)));
      await connection.write(post(event(1), ["Connection: close"]));
      assert.deepEqual(
        [(await connection.answer())?.headers.connection, (await connection.answer())?.headers.connection],
        ["keep-alive", "close"],
      );
      await connection.closed;

      const older = new RawConnection(t, service.url);
      await older.write(post(event(2)).replace("HTTP/1.1", "HTTP/1.0"));
      assert.equal((await older.answer())?.status, 200);
      await older.closed;

      const polite = new RawConnection(t, service.url);
      const [head = "", body = ""] = post(event(3), ["Expect: 100-continue"]).split(/(?<=\r\n\r\n)/);
      await polite.write(head);
      assert.equal((await polite.answer())?.status, 100);
      await polite.write(body);
      assert.equal((await polite.answer())?.status, 200);
      assert.deepEqual(await stored(service, "closing"), upTo(4));
    },

    "a client that ends its side after a request is answered, and then the connection is closed": async (service, t) => {
      const event = eventOf("half");
      const connection = new RawConnection(t, service.url);
      connection.socket.end(post(event(0)), "latin1");
      assert.equal((await connection.answer())?.status, 200);
      await connection.closed;
      const half = new RawConnection(t, service.url);
      half.socket.end(post(event(1)).slice(0, -1), "latin1");
      await half.closed;
      assert.deepEqual(await stored(service, "half"), upTo(1));
    },

    "what could be read in two ways is refused, and nothing of it is stored": async (service, t) => {
      const event = eventOf("ambiguous");
      const twice = post(event(0), [`content-length: ${event(0).length}`]);
      const other = post(event(1), ["Content-Length: 0"]);
      const both = chunked(event(2)).replace("\r\n", "\r\nContent-Length: 3\r\n");
      const loose = post(event(3)).replace("Content-Length:", "Content-Length :");
      const bare = post(event(4)).replaceAll("\r\n", "\n");
      for (const request of [twice, other, both, loose, bare]) {
        const connection = new RawConnection(t, service.url);
        await connection.write(request);
        assert.equal((await connection.answer())?.status, 400, request);
        await connection.closed;
      }
      assert.deepEqual(await stored(service, "ambiguous"), []);
    },

    "a method that no route could have is answered like any unknown path": async (service, t) => {
      const connection = new RawConnection(t, service.url);
      await connection.write("PRI /e0\r\n\r\n/x HTTP/1.1\r\nHost: inlet.test\r\n\r\n");
      assert.equal((await connection.answer())?.status, 404);
    },

    "requests followed by garbage get their own responses before the garbage is refused": async (service, t) => {
      const event = eventOf("garbage");
      const garbage = "no HTTP at all\r\n\r\n";
      for (const requests of [[post(event(0))], [post(event(1)), OTHER, post(event(2))], [OTHER], []]) {
        const connection = new RawConnection(t, service.url);
        await connection.write(requests.join("") + garbage);
        assert.deepEqual(await statuses(connection, requests.length + 1), [...requests.map(() => 200), 400]);
        await connection.closed;
      }
      const broken = new RawConnection(t, service.url);
      await broken.write(post(event(3)) + chunked("x").replace("1\r\nx", "zz"));
      assert.deepEqual(await statuses(broken, 2), [200, 400], "a request that breaks off has no response of its own");
      assert.deepEqual(await stored(service, "garbage"), upTo(4));
    },

    "a client that breaks off inside a body harms nobody, whichever the route": async (service, t) => {
      for (const line of [
        "GET /health",
        "POST /health",
        "DELETE /v1/keys/x",
        "POST /fn/register",
        "GET /v1/events",
        "POST /v1/session",
        `POST /e/${EVENT_KEY}`,
      ]) {
        const connection = new RawConnection(t, service.url);
        await connection.write(`${line} HTTP/1.1\r\nHost: t\r\nContent-Type: application/json\r\nContent-Length: 10\r\n\r\n{`);
        // What was written before is read before.
        for (let n = 0; n < 3; n++) await call(`${service.url}/health`);
        connection.socket.resetAndDestroy();
        assert.equal((await call(`${service.url}/health`)).status, 200, line);
      }
      // The body breaks off while its request is being refused for its type.
      const broken = new RawConnection(t, service.url);
      await broken.write('POST /health HTTP/1.1\r\nHost: t\r\nTransfer-Encoding: chunked\r\n\r\n16;a=b":\r\n15\r\ndata\r\n0\r\n\r\n');
      while (await broken.answer());
      assert.equal((await call(`${service.url}/health`)).status, 200);
    },
  }),
);

import assert from "node:assert/strict";
import { request } from "node:http";
import { type AddressInfo, createServer } from "node:net";
import { type TestContext, test } from "node:test";
import { parsePlainAnswer } from "./plain-answer.ts";

function head(lines: readonly string[], statusLine = "HTTP/1.1 200 OK"): string {
  return `${[statusLine, ...lines].join("\r\n")}\r\n\r\n`;
}

interface ReadAnswer {
  status: number | undefined;
  headers: object;
  body: string;
}

/** What Node's own parser makes of an answer with this head and the body `{}`. */
async function readByNode(t: TestContext, text: string): Promise<ReadAnswer> {
  const server = createServer((socket) => socket.once("data", () => socket.end(`${text}{}`, "latin1"))).listen(0, "127.0.0.1");
  t.after(() => server.close());
  await new Promise((resolve) => server.once("listening", resolve));
  const { port } = server.address() as AddressInfo;
  return new Promise((resolve, reject) => {
    const sent = request({ port, host: "127.0.0.1", method: "POST", agent: false }, async (response) => {
      const body = Buffer.concat(await response.toArray()).toString();
      resolve({ status: response.statusCode, headers: { ...response.headers }, body });
    });
    sent.on("error", reject).end();
  });
}

const PLAIN: readonly (readonly [string, number | null])[] = [
  [head(["content-length: 2"]), null],
  [head(["Content-Length:2", "x-empty:", "X-Spaces:  a  b\tc "], "HTTP/1.1 206 Partial Content"), null],
  [head(["content-length: 002", "Connection: Keep-Alive", "Keep-Alive: timeout=5"], "HTTP/1.1 500 "), 5_000],
  [head(["content-length: 2", "keep-alive: max=10, timeout=72"], "HTTP/1.1 404 It's not (here)"), 72_000],
  [head(["content-length: 2", "connection: close", "keep-alive: timeout=5"]), 0],
];

test("a plain answer means what it means to Node", async (t) => {
  for (const [text, keptMs] of PLAIN) {
    const own = parsePlainAnswer(text);
    assert.ok(own, text);
    assert.deepEqual({ status: own.status, headers: { ...own.headers }, body: "{}" }, await readByNode(t, text), text);
    assert.deepEqual([own.text, own.bodyBytes, own.keptMs], [text, 2, keptMs]);
  }
});

test("anything else is left to Node", () => {
  const strange = [
    head([]),
    head(["content-length: 2"], "HTTP/1.0 200 OK"),
    head(["content-length: 2"], "HTTP/1.1 200"),
    head(["content-length: 2"], "HTTP/1.1  200 OK"),
    head(["content-length: 2"], "HTTP/1.1 099 OK"),
    head(["content-length: 2"], "HTTP/1.1 600 OK"),
    head(["content-length: 2"], "http/1.1 200 OK"),
    head(["content-length: 2"], "HTTP/1.1 200 caf\xe9"),
    ...[100, 101, 103, 204, 205, 304].map((status) => head(["content-length: 0"], `HTTP/1.1 ${status} That`)),
    ...["transfer-encoding: chunked", "upgrade: h2c", "trailer: x", "connection: keep-alive, upgrade", "set-cookie: a=b"].map((line) =>
      head(["content-length: 2", line]),
    ),
    head(["transfer-encoding: chunked"]),
    ...["-2", "+2", "2.0", "0x2", "2, 2", "2 2", "", "9999999999"].map((length) => head([`content-length: ${length}`])),
    head(["content-length: 2", "content-length: 2"]),
    head(["content-length: 2", "x-a: 1", "X-A: 2"]),
    head(["content-length: 2", "x-a: 1", " folded"]),
    head(["content-length : 2"]),
    head(["content-length: 2", "x-a: \x01"]),
    head(["content-length: 2", "__proto__: 1"]),
    "HTTP/1.1 200 OK\ncontent-length: 2\n\n\r\n\r\n",
  ];
  for (const text of strange) assert.equal(parsePlainAnswer(text), null, JSON.stringify(text));
});

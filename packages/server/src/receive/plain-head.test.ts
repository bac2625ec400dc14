import assert from "node:assert/strict";
import { createServer, type IncomingMessage } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { type TestContext, test } from "node:test";
import { readPlainHead } from "./plain-head.ts";

const USUAL = ["Host: inlet.test", "Content-Length: 2"];

function head(lines: readonly string[], requestLine = "POST /e/key HTTP/1.1"): string {
  return `${[requestLine, ...lines].join("\r\n")}\r\n\r\n`;
}

const read = (text: string) => readPlainHead(Buffer.from(`${text}{}`, "latin1"), null);

type ReadHead = Pick<IncomingMessage, "headers" | "rawHeaders"> & { url: string };

/** What Node's own parser makes of each; null where it refuses one. */
async function readByNode(t: TestContext, texts: readonly string[]): Promise<(ReadHead | null)[]> {
  let tell: (head: ReadHead | null) => void = () => {};
  const server = createServer(({ url = "", headers, rawHeaders }, response) => {
    response.end();
    tell({ url, headers, rawHeaders });
  });
  server.on("clientError", (_error, socket) => {
    socket.destroy();
    tell(null);
  });
  server.listen(0, "127.0.0.1");
  t.after(() => server.close());
  await new Promise((resolve) => server.once("listening", resolve));
  const { port } = server.address() as AddressInfo;
  const read: (ReadHead | null)[] = [];
  for (const text of texts) {
    const told = new Promise<ReadHead | null>((resolve) => (tell = resolve));
    const socket = connect(port, "127.0.0.1", () => socket.end(`${text}{}`, "latin1")).resume();
    read.push(await told);
  }
  return read;
}

test("a plain head means what it means to Node", async (t) => {
  const plain = [
    head(USUAL),
    head(["host:inlet.test", "content-length:2"]),
    head(["HOST:  \t inlet.test \t", "Content-LENGTH: 002", "X-Empty:", "x-Spaces: a  b\tc "]),
    head([...USUAL, "Connection: Keep-Alive", "traceparent: 00-4bf9-01", 'x!#$%&\'*+-.^_`|~9: :;=("@")']),
    head(USUAL, "POST /e/a%20b?x=1&y=%2F#z HTTP/1.1"),
    head(USUAL, "POST /e/ HTTP/1.1"),
  ];
  const byNode = await readByNode(t, plain);
  for (const [index, text] of plain.entries()) {
    const own = read(text);
    assert.ok(own, text);
    const { target: url, headers, rawHeaders } = own;
    assert.deepEqual({ url, headers, rawHeaders }, byNode[index], text);
    assert.deepEqual([own.text, own.bodyBytes], [text, 2]);
  }
});

test("anything else is left to Node", () => {
  const others = {
    "another method": head(USUAL, "PUT /e/key HTTP/1.1"),
    "another path": head(USUAL, "POST /v1/events HTTP/1.1"),
    "an absolute target": head(USUAL, "POST http://inlet.test/e/key HTTP/1.1"),
    "an older version": head(USUAL, "POST /e/key HTTP/1.0"),
    "a space in the target": head(USUAL, "POST /e/a b HTTP/1.1"),
    "two spaces": head(USUAL, "POST  /e/key HTTP/1.1"),
    "more than ASCII in the target": head(USUAL, "POST /e/caf\u00e9 HTTP/1.1"),
    "an empty line before": `\r\n${head(USUAL)}`,
    "no host": head(["Content-Length: 2"]),
    "two hosts": head([...USUAL, "Host: other.test"]),
    "no length": head(["Host: inlet.test"]),
    "two lengths": head([...USUAL, "content-length: 2"]),
    "a list of lengths": head(["Host: a", "Content-Length: 2, 2"]),
    "a signed length": head(["Host: a", "Content-Length: +2"]),
    "a length in hex": head(["Host: a", "Content-Length: 0x2"]),
    "no number": head(["Host: a", "Content-Length:"]),
    "a length beyond belief": head(["Host: a", "Content-Length: 99999999999"]),
    "an encoding": head([...USUAL, "Transfer-Encoding: chunked"]),
    "an encoding nobody knows": head([...USUAL, "transfer-encoding: xchunked"]),
    "a wish to go on": head([...USUAL, "Expect: 100-continue"]),
    "an upgrade": head([...USUAL, "Upgrade: h2c", "Connection: Upgrade"]),
    "a connection that is to be closed": head([...USUAL, "Connection: close"]),
    "a connection with more to say": head([...USUAL, "Connection: keep-alive, x-hop"]),
    "a header that came twice": head([...USUAL, "x-a: 1", "X-A: 2"]),
    "a header of every object": head([...USUAL, "__proto__: x"]),
    "a folded header": head([...USUAL, "x-a: 1", " 2"]),
    "a space before the colon": head(["Host: a", "Content-Length : 2"]),
    "a header without a colon": head([...USUAL, "x-a"]),
    "a header without a name": head([...USUAL, ": x"]),
    "a line that ends in LF alone": head([...USUAL, "x-a: 1\nx-b: 2"]),
    "a CR within a line": head([...USUAL, "x-a: 1\rx"]),
    "a NUL": head([...USUAL, "x-a: 1\0"]),
    "more than ASCII in a value": head([...USUAL, "x-a: caf\u00e9"]),
    "a head of more than 8 KB": head([...USUAL, `x-a: ${"x".repeat(9_000)}`]),
    "a head that is not whole": head(USUAL).slice(0, -2),
  };
  for (const [what, text] of Object.entries(others)) assert.equal(read(text), null, what);
});

test("a head that comes again is not read again", () => {
  const first = read(head(USUAL));
  assert.equal(readPlainHead(Buffer.from(`${head(USUAL)}[]`), first), first);
  assert.notEqual(readPlainHead(Buffer.from(`${head([...USUAL, "x-a: 1"])}[]`), first), first);
});

/** Streams of bytes that are HTTP, nearly HTTP, or were HTTP before something was changed: what a parser may read in two ways. */

import type { Random } from "./attack-plan.ts";

const STRANGE_HEADERS = [
  "Content-Length: 5",
  "Content-Length: +5",
  "Content-Length: 0x5",
  "Content-Length: 5, 5",
  "Content-Length:",
  "Transfer-Encoding: chunked",
  "Transfer-Encoding: identity",
  "Transfer-Encoding: chunked, identity",
  "Transfer-Encoding : chunked",
  "Transfer-Encoding:\tchunked",
  "transfer-encoding: xchunked",
  "Connection: close",
  "Connection: keep-alive, content-length",
  "Expect: 100-continue",
  "Upgrade: websocket",
  "X-Long: ".padEnd(9_000, "x"),
  " folded: line",
  "X-Bad\u0000: 1",
  "X-Obs: \u00e9",
  ": no name",
];
const METHODS = ["POST", "POST", "POST", "POST", "GET", "PUT", "OPTIONS", "PRI", "post"];
const VERSIONS = ["HTTP/1.1", "HTTP/1.1", "HTTP/1.1", "HTTP/1.1", "HTTP/1.0", "HTTP/2.0", "HTTP/1.2", ""];

/** One or more requests to `path`, each with a body that names it. */
export function httpBytes(random: Random, path: string, nextNumber: () => number): Buffer {
  const requests = Array.from({ length: 1 + random.below(4) }, () => request(random, path, nextNumber()));
  const bytes = Buffer.from(requests.join(""), "latin1");
  return random.below(3) === 0 ? mutated(random, bytes) : bytes;
}

function request(random: Random, path: string, number: number): string {
  const body = JSON.stringify({ name: "fuzz/event", data: { number } });
  const end = random.below(12) === 0 ? "\n" : "\r\n";
  const lines = [`${random.pick(METHODS)} ${random.below(10) === 0 ? "/health" : path} ${random.pick(VERSIONS)}`, "Host: localhost"];
  const isChunked = random.below(4) === 0;
  lines.push(
    isChunked ? "Transfer-Encoding: chunked" : `Content-Length: ${body.length + (random.below(8) === 0 ? random.below(9) - 4 : 0)}`,
  );
  if (random.below(3) === 0) lines.splice(1 + random.below(lines.length), 0, random.pick(STRANGE_HEADERS));
  return `${lines.join(end)}${end}${end}${isChunked ? chunked(random, body) : body}`;
}

function chunked(random: Random, body: string): string {
  const at = 1 + random.below(body.length - 1);
  const size = (text: string) => `${text.length.toString(16)}${random.below(6) === 0 ? ";a=b" : ""}`;
  const [one, other] = [body.slice(0, at), body.slice(at)];
  return `${size(one)}\r\n${one}\r\n${size(other)}\r\n${other}\r\n0\r\n${random.below(6) === 0 ? "X-Trailer: 1\r\n" : ""}\r\n`;
}

function mutated(random: Random, bytes: Buffer): Buffer {
  const copy = Buffer.from(bytes);
  const at = random.below(copy.length);
  switch (random.below(4)) {
    case 0:
      copy[at] = random.below(256);
      return copy;
    case 1:
      return copy.subarray(0, at);
    case 2:
      return Buffer.concat([copy.subarray(0, at), Buffer.from(random.pick(["\r\n", "\n", "\0", " ", "0\r\n\r\n"])), copy.subarray(at)]);
    default:
      return Buffer.concat([copy.subarray(0, at), copy.subarray(Math.min(at + 1 + random.below(8), copy.length))]);
  }
}

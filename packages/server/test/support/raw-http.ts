/** HTTP as bytes: what is sent and what arrives is seen before any library makes something of it. */

import { connect, createServer, type Socket } from "node:net";
import type { TestContext } from "node:test";
import { onEnd } from "./on-end.ts";

/** A POST with this query, these header lines and this body, exactly; resolves with the status of the response. */
export function postBytes(url: string, { query, headers, body }: { query: string; headers: readonly string[]; body: Buffer }) {
  const { hostname, port, pathname, host } = new URL(url);
  const lines = [`POST ${pathname}${query} HTTP/1.1`, `Host: ${host}`, ...headers, `Content-Length: ${body.length}`, "Connection: close"];
  return new Promise<number>((resolve, reject) => {
    let answer = "";
    const socket = connect(Number(port), hostname, () => {
      socket.write(`${lines.join("\r\n")}\r\n\r\n`, "latin1");
      socket.write(body);
    });
    socket.setEncoding("latin1");
    socket.on("data", (text) => (answer += text));
    socket.on("error", reject);
    socket.on("close", () => resolve(Number(/^HTTP\/1.1 (\d+)/.exec(answer)?.[1])));
  });
}

export interface ReceivedBytes {
  /** The request line and the header lines. */
  lines: string[];
  body: Buffer;
}

/** Listens on a bare socket, and answers each request with 200. */
export async function listenForBytes(t: TestContext): Promise<{ url: string; received: ReceivedBytes[] }> {
  const received: ReceivedBytes[] = [];
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on("error", () => undefined);
    let bytes = Buffer.alloc(0);
    socket.on("data", (chunk) => {
      bytes = Buffer.concat([bytes, chunk]);
      const headEnd = bytes.indexOf("\r\n\r\n");
      if (headEnd < 0) return;
      const lines = bytes.toString("latin1", 0, headEnd).split("\r\n");
      const length = Number(lines.find((line) => /^content-length:/i.test(line))?.split(":")[1]);
      if (bytes.length < headEnd + 4 + length) return;
      received.push({ lines, body: bytes.subarray(headEnd + 4, headEnd + 4 + length) });
      bytes = bytes.subarray(headEnd + 4 + length);
      socket.write("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
    });
  }).listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  onEnd(t, () => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  const { port } = server.address() as { port: number };
  return { received, url: `http://127.0.0.1:${port}` };
}

export interface RawResponse {
  status: number;
  /** By their names in small letters. */
  headers: Record<string, string>;
  body: string;
}

/** A connection on which requests are written as they are, and answers read one after the other. */
export class RawConnection {
  readonly socket: Socket;
  /** Resolves when the other side has closed it. */
  readonly closed: Promise<void>;
  #received = "";
  #onMore = () => {};

  constructor(t: TestContext, url: string) {
    const { hostname, port } = new URL(url);
    this.socket = connect({ host: hostname, port: Number(port), noDelay: true, allowHalfOpen: true });
    onEnd(t, () => this.socket.destroy());
    this.socket.setEncoding("latin1");
    this.socket.on("data", (text) => {
      this.#received += text;
      this.#onMore();
    });
    this.socket.on("error", () => undefined);
    this.closed = new Promise((resolve) => {
      for (const end of ["end", "close"]) this.socket.once(end, () => resolve());
    });
    this.closed.then(() => this.#onMore());
  }

  /** Resolves when the bytes have left. */
  write(text: string): Promise<void> {
    return new Promise((resolve) => this.socket.write(text, "latin1", () => resolve()));
  }

  /** The next answer; null when the connection was closed before there was one. */
  async answer(): Promise<RawResponse | null> {
    for (;;) {
      const headEnd = this.#received.indexOf("\r\n\r\n");
      const [statusLine = "", ...lines] = this.#received.slice(0, headEnd).split("\r\n");
      const headers = Object.fromEntries(lines.map((line) => [line.split(":", 1)[0]?.toLowerCase(), line.replace(/^.*?:\s*/, "")]));
      const bodyEnd = headEnd + 4 + Number(headers["content-length"] ?? 0);
      if (headEnd >= 0 && this.#received.length >= bodyEnd) {
        const body = this.#received.slice(headEnd + 4, bodyEnd);
        this.#received = this.#received.slice(bodyEnd);
        return { status: Number(statusLine.split(" ")[1]), headers, body };
      }
      if (this.socket.destroyed || this.socket.readableEnded) return null;
      await new Promise<void>((resolve) => (this.#onMore = resolve));
    }
  }
}

/**
 * Answers what the HTTP parser itself refuses. There is no request to answer then, so a bare status line has to do. Requests that came
 * before on the same connection get their own answers first.
 */

import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";

interface Exchange {
  request: IncomingMessage;
  response: ServerResponse;
}

const STATUS_LINES: Readonly<Record<string, string>> = {
  ERR_HTTP_REQUEST_TIMEOUT: "408 Request Timeout",
  HPE_HEADER_OVERFLOW: "431 Request Header Fields Too Large",
};

export class BadRequests {
  /** What is under way on a connection, oldest first. */
  readonly #underWay = new WeakMap<Socket, Set<Exchange>>();
  readonly #refused = new WeakSet<Socket>();

  /** Called for every request. */
  note(request: IncomingMessage, response: ServerResponse): void {
    const { socket } = request;
    const known = this.#underWay.get(socket) ?? new Set();
    const exchange = { request, response };
    this.#underWay.set(socket, known.add(exchange));
    response.once("close", () => known.delete(exchange));
  }

  /** Called when the parser fails, again with everything that follows. */
  answer(error: { code?: string }, socket: Socket): void {
    if (this.#refused.has(socket)) return;
    this.#refused.add(socket);
    if (!socket.writable || error.code === "ECONNRESET") return void socket.destroy();
    const refuse = () =>
      void socket.end(`HTTP/1.1 ${STATUS_LINES[error.code ?? ""] ?? "400 Bad Request"}\r\ncontent-length: 0\r\nconnection: close\r\n\r\n`);
    // A request that is not complete is the one the parser failed at: it has no answer.
    const last = [...(this.#underWay.get(socket) ?? [])].findLast(({ request }) => request.complete);
    if (last) last.response.once("close", refuse);
    else refuse();
  }
}

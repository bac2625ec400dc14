/**
 * Responds to input that the HTTP parser refuses. There is no request object, so the response is a bare status line. Earlier requests
 * on the same connection get their responses first.
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
  /** The requests in progress on a connection, oldest first. */
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

  /** Called when the parser fails, and again for all data that follows. */
  answer(error: { code?: string }, socket: Socket): void {
    if (this.#refused.has(socket)) return;
    this.#refused.add(socket);
    if (!socket.writable || error.code === "ECONNRESET") return void socket.destroy();
    const refuse = () =>
      void socket.end(`HTTP/1.1 ${STATUS_LINES[error.code ?? ""] ?? "400 Bad Request"}\r\ncontent-length: 0\r\nconnection: close\r\n\r\n`);
    // The incomplete request is the one that the parser failed at: it gets no other response.
    const last = [...(this.#underWay.get(socket) ?? [])].findLast(({ request }) => request.complete);
    if (last) last.response.once("close", refuse);
    else refuse();
  }
}

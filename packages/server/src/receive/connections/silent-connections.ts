/**
 * Closes connections on which nothing was ever sent when the server closes. Node counts them as active, since their first request may
 * be on its way, and would wait for it. Clients keep such connections for later: undici opens one after it has aborted a response.
 */

import type { Server } from "node:http";
import type { Socket } from "node:net";

const CHECK_MS = 20;

export class SilentConnections {
  readonly #server: Server;
  readonly #open = new Set<Socket>();

  constructor(server: Server) {
    this.#server = server;
    server.on("connection", (socket: Socket) => {
      this.#open.add(socket);
      socket.once("close", () => this.#open.delete(socket));
    });
  }

  /** Goes on until the server has closed. What arrived before the first check is read before the second: only then is it closed. */
  close(): void {
    // A server that never listened has no connections, and does not say that it closed.
    if (!this.#server.listening) return;
    let checked = new Set<Socket>();
    const check = () => {
      const silent = new Set([...this.#open].filter((socket) => socket.bytesRead === 0));
      for (const socket of silent) if (checked.has(socket)) socket.destroy();
      checked = silent;
    };
    check();
    const timer = setInterval(check, CHECK_MS);
    this.#server.once("close", () => clearInterval(timer));
  }
}

/**
 * Bounds the cost of connections outside their requests: how many one address may open, how long a new one may be silent, and how
 * long a client may leave a response unread. Clients that never read would otherwise keep their responses in memory.
 */

import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { addressGroup } from "@inlet/protocol";
import type { Logger } from "pino";

export interface ConnectionRules {
  firstByteMs: number;
  stallMs: number;
  /** Per address; 0: no limit. */
  connectionsMax: number;
  /** Whether an address may represent many clients. */
  isProxy(address: string): boolean;
  log: Logger;
}

export function guardConnections(server: Server, rules: ConnectionRules): void {
  const open = new Map<string, number>();
  const warn = createSparseLog(rules.log);

  function accept(address: string, { remoteAddress = "" }: Socket): boolean {
    const connections = open.get(address) ?? 0;
    if (rules.connectionsMax === 0 || connections < rules.connectionsMax || rules.isProxy(remoteAddress)) return true;
    warn(address, "an address has reached --address-connections: further connections are closed at once", { connections });
    return false;
  }

  server.on("connection", (socket: Socket) => {
    const address = addressGroup(socket.remoteAddress ?? "");
    if (!accept(address, socket)) return void socket.destroy();
    open.set(address, (open.get(address) ?? 0) + 1);
    socket.once("close", () => {
      const left = (open.get(address) ?? 0) - 1;
      if (left > 0) open.set(address, left);
      else open.delete(address);
    });
    // Node closes a connection without a request after this much inactivity.
    socket.setTimeout(rules.firstByteMs);
  });

  server.prependListener("request", (request: IncomingMessage, response: ServerResponse) => {
    request.socket.setTimeout(rules.stallMs);
    // Nothing was read or written for this long. A client that waits for a response is not a reason to close.
    response.on("timeout", (socket: Socket) => {
      if (socket.writableLength === 0) return;
      warn(addressGroup(socket.remoteAddress ?? ""), "a client left its response unread for --stall-timeout: its connection is closed", {});
      socket.destroy();
    });
  });
}

/** A message about one address is logged at most once in this time. */
const LOGGED_EVERY_MS = 60_000;
const LOGGED_MAX = 1_000;

function createSparseLog(log: Logger): (address: string, message: string, details: object) => void {
  const loggedAt = new Map<string, number>();
  return (address, message, details) => {
    const [what, now] = [`${address} ${message}`, performance.now()];
    if (now - (loggedAt.get(what) ?? Number.NEGATIVE_INFINITY) < LOGGED_EVERY_MS) return;
    if (loggedAt.size >= LOGGED_MAX) loggedAt.clear();
    loggedAt.set(what, now);
    log.warn({ address, ...details }, message);
  };
}

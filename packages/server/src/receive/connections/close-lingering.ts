/**
 * Ends a connection whose request was answered before its body was read.
 *
 * Closing at once would reset the connection, and most clients, still writing, would see the reset instead of the response. Therefore
 * a bounded amount is read and discarded for a short time; then the connection is destroyed.
 */

import type { IncomingMessage } from "node:http";

const SMALL_BODY_BYTES = 64 * 1024;
const LINGER_MS = 1_000;
const LINGER_BYTES_MAX = 2 * 1024 * 1024;

export function closeLingering(request: IncomingMessage): void {
  const { socket } = request;
  let thrownAway = 0;
  const cut = () => socket.destroy();
  const timer = setTimeout(cut, LINGER_MS);
  socket.once("close", () => clearTimeout(timer));
  request.on("data", (chunk: Buffer) => {
    thrownAway += chunk.length;
    if (thrownAway > LINGER_BYTES_MAX) cut();
  });
  request.on("end", cut);
  request.resume();
}

/** The rest of a small body is cheaper to read than a new connection: Node discards it by itself. */
export function hasLargeRest(request: IncomingMessage): boolean {
  if (request.complete) return false;
  const declared = request.headers["content-length"];
  return declared === undefined ? request.headers["transfer-encoding"] !== undefined : Number(declared) > SMALL_BODY_BYTES;
}

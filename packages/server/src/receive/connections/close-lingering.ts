/**
 * Ends a connection whose request is answered before its body was read.
 *
 * Closing at once would reset the connection, and most clients, still writing, would see the reset instead of the response. Therefore
 * the response is followed by the end of our side only: a bounded amount of the body is read and discarded, the rest is left unread,
 * and a short time after the response the connection is destroyed.
 */

import type { IncomingMessage } from "node:http";

const SMALL_BODY_BYTES = 64 * 1024;
const LINGER_MS = 1_000;
const LINGER_BYTES_MAX = 2 * 1024 * 1024;

/** Called before the response is written, which has the header `connection: close`: Node calls `destroySoon` when it has left. */
export function closeLingering(request: IncomingMessage): void {
  const { socket } = request;
  let discarded = 0;
  request.on("data", (chunk: Buffer) => {
    discarded += chunk.length;
    if (discarded > LINGER_BYTES_MAX) request.pause();
  });
  request.resume();
  socket.destroySoon = () => {
    const timer = setTimeout(() => socket.destroy(), LINGER_MS);
    socket.once("close", () => clearTimeout(timer));
    socket.end();
  };
}

/** Whether our side of its connection has ended: it follows a request that was answered early, and could not be answered. */
export function isEnded({ socket }: IncomingMessage): boolean {
  return !socket.writable;
}

/** The rest of a small body is cheaper to read than a new connection: Node discards it by itself. */
export function hasLargeRest(request: IncomingMessage): boolean {
  if (request.complete) return false;
  const declared = request.headers["content-length"];
  return declared === undefined ? request.headers["transfer-encoding"] !== undefined : Number(declared) > SMALL_BODY_BYTES;
}

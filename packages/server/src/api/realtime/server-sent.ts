/**
 * Subscribing with server-sent events: `GET /v1/realtime/sse?token=…`, each message as `id: <number>` and `data: <JSON>`. Whoever comes back with
 * `Last-Event-ID` gets what it missed first. For pages of any origin with a token.
 */

import type { FastifyReply } from "fastify";
import { sendRefusal } from "../rest-errors.ts";
import { StreamResponse } from "../streams/stream-response.ts";
import type { Connection, Subscribers } from "./subscribers.ts";
import type { TokenClaims } from "./tokens.ts";

const HEADERS = { "access-control-allow-origin": "*" };

export interface StreamFollower {
  claims: TokenClaims;
  after: number | null;
  heartbeatMs?: number | undefined;
}

export async function followAsStream(
  reply: FastifyReply,
  subscribers: Subscribers,
  { claims, after, heartbeatMs }: StreamFollower,
): Promise<unknown> {
  let stream: StreamResponse | null = null;
  const connection: Connection = {
    send(text, number) {
      const id = number === null ? "" : `id: ${number}\n`;
      stream?.write(`${id}data: ${text.replace(/\r\n?|\n/g, "\ndata: ")}\n\n`);
    },
    waitingBytes: () => stream?.waitingBytes ?? 0,
    drained: () => stream?.caughtUp() ?? Promise.resolve(),
    cut: (reason) => stream?.end(`event: closing\ndata: ${JSON.stringify({ kind: "closing", data: reason })}\n\n`),
  };
  const release = await subscribers.prepare(claims);
  const refused = subscribers.add(connection, claims, after);
  release();
  if (refused) return sendRefusal(reply, refused);
  reply.hijack();
  stream = new StreamResponse(reply.raw, { headers: HEADERS, heartbeatMs });
  stream.onEnd(() => subscribers.remove(connection));
  void subscribers.resume(connection);
  return undefined;
}

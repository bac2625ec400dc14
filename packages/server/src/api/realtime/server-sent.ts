/** Subscribing with server-sent events: `GET /v1/realtime/sse?token=…`, each message as `data: <JSON>`. For pages of any origin with a token. */

import type { FastifyReply } from "fastify";
import { sendRefusal } from "../rest-errors.ts";
import { StreamResponse } from "../streams/stream-response.ts";
import type { Connection, Subscribers } from "./subscribers.ts";
import type { TokenClaims } from "./tokens.ts";

const HEADERS = { "access-control-allow-origin": "*" };

export function followAsStream(reply: FastifyReply, subscribers: Subscribers, claims: TokenClaims, heartbeatMs?: number): unknown {
  let stream: StreamResponse | null = null;
  const connection: Connection = {
    send: (text) => void stream?.write(`data: ${text.replace(/\r\n?|\n/g, "\ndata: ")}\n\n`),
    waitingBytes: () => stream?.waitingBytes ?? 0,
    cut: (reason) => stream?.end(`event: closing\ndata: ${JSON.stringify({ kind: "closing", data: reason })}\n\n`),
  };
  const refused = subscribers.add(connection, claims);
  if (refused) return sendRefusal(reply, refused);
  reply.hijack();
  stream = new StreamResponse(reply.raw, { headers: HEADERS, heartbeatMs });
  stream.onEnd(() => subscribers.remove(connection));
  return undefined;
}

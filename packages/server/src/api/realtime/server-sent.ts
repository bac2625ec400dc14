/** Subscribing with server-sent events: `GET /v1/realtime/sse?token=…`, each message as `data: <JSON>`. For pages of any origin with a token. */

import { Refusal } from "@inlet/protocol";
import type { FastifyReply } from "fastify";
import { sendRefusal } from "../rest-errors.ts";
import { STREAM_TYPE } from "../streams/server-sent.ts";
import type { Connection, Subscribers } from "./subscribers.ts";
import type { TokenClaims } from "./tokens.ts";

const HEADERS = {
  "content-type": STREAM_TYPE,
  "cache-control": "no-cache",
  "access-control-allow-origin": "*",
  // Proxies such as nginx would otherwise buffer the stream.
  "x-accel-buffering": "no",
  connection: "close",
};
const HEARTBEAT_MS = 15_000;
/** How long a disconnected subscriber may take to read the reason. */
const CUT_AFTER_MS = 1_000;

export function followAsStream(reply: FastifyReply, subscribers: Subscribers, claims: TokenClaims): unknown {
  const response = reply.raw;
  const connection: Connection = {
    send: (text) => void response.write(`data: ${text.replace(/\r\n?|\n/g, "\ndata: ")}\n\n`),
    waitingBytes: () => response.writableLength,
    cut(reason) {
      response.end(`event: closing\ndata: ${JSON.stringify({ kind: "closing", data: reason })}\n\n`);
      setTimeout(() => response.destroy(), CUT_AFTER_MS).unref();
    },
  };
  if (!subscribers.add(connection, claims)) {
    subscribers.remove(connection);
    return sendRefusal(reply, new Refusal("overloaded", "There are too many subscribers, or this one has too many topics."));
  }
  reply.hijack();
  response.writeHead(200, HEADERS);
  response.write(": connected\n\n");
  const heartbeat = setInterval(() => void response.write(": still here\n\n"), HEARTBEAT_MS).unref();
  response.on("close", () => {
    clearInterval(heartbeat);
    subscribers.remove(connection);
  });
  return undefined;
}

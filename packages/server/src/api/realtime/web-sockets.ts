/**
 * Subscribing over WebSocket: `GET /v1/realtime/connect?token=…`. The token is the credential, so pages of any origin may connect with one.
 * A connection that answers no ping is closed.
 */

import type { IncomingMessage, Server } from "node:http";
import type { Duplex } from "node:stream";
import { errorBody, Refusal } from "@inlet/protocol";
import { type WebSocket, WebSocketServer } from "ws";
import type { AttemptBudget } from "../access/attempt-budget.ts";
import type { Connection, Subscribers } from "./subscribers.ts";
import type { RealtimeTokens, TokenClaims } from "./tokens.ts";

export interface WebSocketsParts {
  tokens: RealtimeTokens;
  subscribers: Subscribers;
  attempts: AttemptBudget;
}

const PATH = "/v1/realtime/connect";
const STREAM_PATH = "/v1/realtime/sse";
const PING_EVERY_MS = 30_000;
/** The message that subscribes to more topics: a token. */
const RECEIVED_BYTES_MAX = 64 * 1024;
/** How long a disconnected subscriber may take to read the reason. */
const CUT_AFTER_MS = 1_000;
const TRY_AGAIN_LATER = 1013;

/** Other upgrade requests, such as those of HTTP/2 clients, are handled as ordinary requests. */
export function isRealtimeConnect({ url = "", headers }: Pick<IncomingMessage, "url" | "headers">): boolean {
  return url.split("?", 1)[0] === PATH && headers.upgrade?.toLowerCase() === "websocket";
}

/** Subscribers have a token: pages of other sites may connect, also to a dev server. */
export function holdsRealtimeToken({ url = "", method }: Pick<IncomingMessage, "url" | "method">): boolean {
  return method === "GET" && url.split("?", 1)[0] === STREAM_PATH;
}

export function serveWebSockets(server: Server, parts: WebSocketsParts): void {
  const sockets = new WebSocketServer({ noServer: true, maxPayload: RECEIVED_BYTES_MAX, perMessageDeflate: false });
  server.on("upgrade", (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    socket.on("error", () => socket.destroy());
    const claims = isRealtimeConnect(request) ? claimsOf(parts, request) : notHere(request);
    if (claims instanceof Refusal) return refuse(socket, claims);
    request.socket.setTimeout(0);
    sockets.handleUpgrade(request, socket, head, (connected) => follow(parts, connected, claims));
  });
}

function claimsOf({ tokens, attempts }: WebSocketsParts, request: IncomingMessage): TokenClaims | Refusal {
  const token = URL.parse(request.url ?? "", "http://localhost")?.searchParams.get("token") ?? "";
  const claims = tokens.read(token);
  if (claims) return claims;
  const waitS = attempts.waitS(request.socket.remoteAddress ?? "", null);
  if (waitS !== null)
    return new Refusal("too_many_attempts", `Too many attempts from this address have failed. Try again in ${waitS} seconds.`);
  return new Refusal("realtime_token_invalid", "The token is missing, was not issued here, or is older than a minute.");
}

function notHere({ url = "" }: IncomingMessage): Refusal {
  return new Refusal("route_not_found", `There is no WebSocket at ${url.split("?", 1)[0]}.`);
}

function refuse(socket: Duplex, refused: Refusal): void {
  const body = JSON.stringify(errorBody(refused));
  const head = [`HTTP/1.1 ${refused.status} Refused`, "content-type: application/json", `content-length: ${Buffer.byteLength(body)}`];
  socket.end(`${[...head, "connection: close"].join("\r\n")}\r\n\r\n${body}`);
}

function follow({ tokens, subscribers }: WebSocketsParts, socket: WebSocket, claims: TokenClaims): void {
  let isAlive = true;
  const connection: Connection = {
    send: (text) => socket.send(text),
    waitingBytes: () => socket.bufferedAmount,
    cut(reason) {
      socket.close(TRY_AGAIN_LATER, reason);
      setTimeout(() => socket.terminate(), CUT_AFTER_MS).unref();
    },
  };
  const ping = setInterval(() => {
    if (!isAlive) return socket.terminate();
    isAlive = false;
    socket.ping();
  }, PING_EVERY_MS).unref();
  socket.on("pong", () => (isAlive = true));
  // An error closes the connection, and closing is handled below.
  socket.on("error", () => socket.terminate());
  socket.on("close", () => {
    clearInterval(ping);
    subscribers.remove(connection);
  });
  socket.on("message", (data, isBinary) => {
    if (!isBinary) change(data.toString(), connection, { tokens, subscribers, claims });
  });
  if (!subscribers.add(connection, claims)) connection.cut("There is no room for this subscription: too many subscribers, or topics.");
}

/** A subscriber adds topics with a token for them, and removes others by name. Anything else is ignored. */
function change(
  text: string,
  connection: Connection,
  { tokens, subscribers, claims }: Pick<WebSocketsParts, "tokens" | "subscribers"> & { claims: TokenClaims },
): void {
  const { kind, data } = parsed(text);
  if (kind === "sub" && typeof data === "string") {
    const more = tokens.read(data);
    if (more && !subscribers.subscribe(connection, more)) connection.cut("This subscriber has too many topics.");
  }
  if (kind === "unsub" && Array.isArray(data)) {
    const topics = data.map(({ channel, name }) => ({ channel: String(channel), name: String(name) }));
    subscribers.unsubscribe(connection, claims.environmentId, topics);
  }
}

function parsed(text: string): { kind?: unknown; data?: unknown } {
  try {
    return (JSON.parse(text) as object | null) ?? {};
  } catch {
    return {};
  }
}

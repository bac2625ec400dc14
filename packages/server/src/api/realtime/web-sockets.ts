/**
 * Subscribing over WebSocket: `GET /v1/realtime/connect?token=…&after=…`. Messages carry their number as `id`; `after` names the last one received. The token is the credential, so pages of any origin may connect with one.
 * A connection that answers no ping, or sends a flood of frames, is closed. A fault in handling one closes that connection and nothing else.
 */

import type { IncomingMessage, Server } from "node:http";
import { createRequire } from "node:module";
import type { Duplex } from "node:stream";
import { setTimeout as pause } from "node:timers/promises";
import { errorBody, Refusal } from "@inlet/protocol";
import type { Logger } from "pino";
import type { WebSocket, WebSocketServer } from "ws";
import { readAfter } from "./read-after.ts";
import { readFrame } from "./read-frame.ts";
import type { Connection, Subscribers } from "./subscribers.ts";
import { type RealtimeTokens, type TokenClaims, tokenInvalid } from "./tokens.ts";

export interface WebSocketsParts {
  tokens: RealtimeTokens;
  subscribers: Subscribers;
  log: Logger;
}

const PATH = "/v1/realtime/connect";
const STREAM_PATH = "/v1/realtime/sse";
const PING_EVERY_MS = 30_000;
/** The message that subscribes to more topics: a token. */
const RECEIVED_BYTES_MAX = 64 * 1024;
/** Frames that a subscriber may send between two pings of ours. Each costs time, and a response that waits until it is read. */
const FRAMES_MAX = 500;
/** How long a disconnected subscriber may take to read the reason. */
const CUT_AFTER_MS = 1_000;
const TRY_AGAIN_LATER = 1013;
const POLICY_VIOLATION = 1008;
const FLOODS = "This subscriber sends too many frames.";
const DRAIN_POLL_MS = 20;
const OPTIONS = { noServer: true, maxPayload: RECEIVED_BYTES_MAX, perMessageDeflate: false };

const require = createRequire(import.meta.url);

/** Other upgrade requests, such as those of HTTP/2 clients, are handled as ordinary requests. */
export function isRealtimeConnect({ url = "", headers }: Pick<IncomingMessage, "url" | "headers">): boolean {
  return url.split("?", 1)[0] === PATH && headers.upgrade?.toLowerCase() === "websocket";
}

/** Subscribers have a token: pages of other sites may connect, also to a dev server. */
export function holdsRealtimeToken({ url = "", method }: Pick<IncomingMessage, "url" | "method">): boolean {
  return method === "GET" && url.split("?", 1)[0] === STREAM_PATH;
}

export function serveWebSockets(server: Server, parts: WebSocketsParts): void {
  let sockets: WebSocketServer | undefined;
  const open = (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    const claims = isRealtimeConnect(request) ? claimsOf(parts, request) : notHere(request);
    if (claims instanceof Refusal) return refuse(socket, claims);
    request.socket.setTimeout(0);
    const after = readAfter(parametersOf(request)?.get("after"));
    const connect = contained(
      parts.log,
      () => socket.destroy(),
      (release: () => void) => {
        // Loaded with the first subscriber, so that no start waits for it.
        sockets ??= new (require("ws") as typeof import("ws")).WebSocketServer(OPTIONS);
        sockets.handleUpgrade(request, socket, head, (connected) => follow(parts, connected, claims, after));
        release();
      },
    );
    parts.subscribers.prepare(claims).then(connect, () => refuse(socket, storeUnavailable()));
  };
  server.on("upgrade", (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    socket.on("error", () => socket.destroy());
    contained(parts.log, () => socket.destroy(), open)(request, socket, head);
  });
}

/** The handler, whose faults are logged and end only what `end` ends. */
function contained<Values extends unknown[]>(
  log: Logger,
  end: () => void,
  handle: (...values: Values) => void,
): (...values: Values) => void {
  return (...values) => {
    try {
      handle(...values);
    } catch (error) {
      log.warn({ err: error }, "a WebSocket is closed: handling it failed");
      end();
    }
  };
}

function claimsOf({ tokens }: WebSocketsParts, request: IncomingMessage): TokenClaims | Refusal {
  return tokens.read(parametersOf(request)?.get("token") ?? "") ?? tokenInvalid();
}

function parametersOf({ url = "" }: IncomingMessage): URLSearchParams | undefined {
  return URL.parse(url, "http://localhost")?.searchParams;
}

function storeUnavailable(): Refusal {
  return new Refusal("store_unavailable", "The store is not available: try again in a moment.");
}

function notHere({ url = "" }: IncomingMessage): Refusal {
  return new Refusal("route_not_found", `There is no WebSocket at ${url.split("?", 1)[0]}.`);
}

function refuse(socket: Duplex, refused: Refusal): void {
  const body = errorBody(refused);
  const head = [`HTTP/1.1 ${refused.status} Refused`, "content-type: application/json", `content-length: ${Buffer.byteLength(body)}`];
  // A client that never closes its side would keep the socket open: nothing else limits its time any more.
  socket.once("finish", () => socket.destroy());
  socket.end(`${[...head, "connection: close"].join("\r\n")}\r\n\r\n${body}`);
}

function follow(parts: WebSocketsParts, socket: WebSocket, claims: TokenClaims, after: number | null): void {
  const { subscribers, log } = parts;
  let isAlive = true;
  let cutting: NodeJS.Timeout | null = null;
  const end = (code: number, reason: string) => {
    socket.close(code, reason);
    cutting ??= setTimeout(() => socket.terminate(), CUT_AFTER_MS);
  };
  const connection: Connection = {
    send: (text, number) => socket.send(number === null ? text : `{"id":${number},${text.slice(1)}`),
    waitingBytes: () => socket.bufferedAmount,
    drained: () => drained(socket),
    cut: (reason) => end(TRY_AGAIN_LATER, reason),
  };
  const budget = frameBudget(socket, () => end(POLICY_VIOLATION, FLOODS));
  const ping = setInterval(() => {
    if (!isAlive) return socket.terminate();
    isAlive = false;
    budget.renew();
    socket.ping();
  }, PING_EVERY_MS).unref();
  socket.on("pong", () => (isAlive = true));
  // An error closes the connection, and closing is handled below.
  socket.on("error", () => socket.terminate());
  socket.on("close", () => {
    clearInterval(ping);
    if (cutting) clearTimeout(cutting);
    subscribers.remove(connection);
  });
  const receive = (data: WebSocket.RawData, isBinary: boolean) => {
    if (budget.take() && !isBinary) change(parts, connection, claims, String(data));
  };
  socket.on(
    "message",
    contained(log, () => socket.terminate(), receive),
  );
  const refused = subscribers.add(connection, claims, after);
  if (refused) connection.cut(refused.message);
  else void subscribers.resume(connection);
}

/** Ends a connection that sends too many frames between two renewals: what follows them is not read. */
function frameBudget(socket: WebSocket, end: () => void): { take(): boolean; renew(): void } {
  let frames = 0;
  const take = () => {
    if (++frames <= FRAMES_MAX) return true;
    end();
    socket.pause();
    return false;
  };
  socket.on("ping", take).on("pong", take);
  return { take, renew: () => (frames = 0) };
}

/** The socket does not say when it has been read: it is looked at. A peer that reads nothing answers no ping either, and is closed. */
async function drained(socket: WebSocket): Promise<void> {
  while (socket.bufferedAmount > 0 && socket.readyState === socket.OPEN) await pause(DRAIN_POLL_MS);
}

function change({ tokens, subscribers }: WebSocketsParts, connection: Connection, { environmentId }: TokenClaims, text: string): void {
  const frame = readFrame(text);
  if (frame?.kind === "unsub") subscribers.unsubscribe(connection, environmentId, frame.topics);
  const more = frame?.kind === "sub" ? tokens.read(frame.token) : null;
  if (more) void subscribeMore(subscribers, connection, more);
}

async function subscribeMore(subscribers: Subscribers, connection: Connection, claims: TokenClaims): Promise<void> {
  const release = await subscribers.prepare(claims).catch(() => null);
  const refused = release ? subscribers.subscribe(connection, claims) : storeUnavailable();
  release?.();
  if (refused) connection.cut(refused.message);
}

/**
 * The HTTP server: lets plain requests to `/e/…` be answered on their connections, hands others to the edge and everything else to the
 * framework; holds the limits all of them share.
 */

import type { RequestListener, ServerOptions } from "node:http";
import type { Socket } from "node:net";
import { Refusal } from "@inlet/protocol";
import Fastify, { type FastifyInstance } from "fastify";
import type { Logger } from "pino";
import { registerRestErrors, sendRefusal } from "./api/rest-errors.ts";
import { registerSecurityHeaders } from "./api/security-headers.ts";
import { createHttpEdge, type HttpEdgeParts, isForEdge } from "./receive/http-edge.ts";
import { type PassOn, PlainConnections } from "./receive/plain-connections.ts";

// Not imported: an import reads every export, and to give its WebSocket Node would load a client for HTTP, 6 MB nobody asked for.
const { Server } = process.getBuiltinModule("node:http");

/** A client must deliver its whole request within this time. */
const REQUEST_TIMEOUT_MS = 60_000;
/** Longer than the idle time of usual load balancers, so that it is they who close. */
const KEEP_ALIVE_TIMEOUT_MS = 72_000;
const REST_BODY_BYTES_MAX = 1024 * 1024;
const PATH_PART_UNITS_MAX = 2_048;

export function createHttpServer(parts: HttpEdgeParts, trustProxy: boolean | string[], log: Logger): FastifyInstance {
  const edge = createHttpEdge(parts);
  const plain = new PlainConnections({ ...parts, times: { requestMs: REQUEST_TIMEOUT_MS, keepAliveMs: KEEP_ALIVE_TIMEOUT_MS } });
  const app = Fastify({
    serverFactory: (framework) =>
      new EventServer(
        { requestTimeout: REQUEST_TIMEOUT_MS, keepAliveTimeout: KEEP_ALIVE_TIMEOUT_MS },
        (request, response) => (isForEdge(request) ? edge(request, response) : framework(request, response)),
        plain,
      ),
    // One log line per request would cost more than accepting it, and paths hold event keys.
    logger: false,
    trustProxy,
    bodyLimit: REST_BODY_BYTES_MAX,
    forceCloseConnections: "idle",
    return503OnClosing: false,
    clientErrorHandler: answerBadRequest,
    // Requests are checked by compilers of the REST API's own, and answers by none: the usual ones need not be loaded.
    schemaController: { compilersFactory: { buildValidator: () => noCompiler, buildSerializer: () => noCompiler } },
    routerOptions: { maxParamLength: PATH_PART_UNITS_MAX },
    frameworkErrors: (error, _request, reply) => void sendRefusal(reply, new Refusal("request_invalid", error.message)),
  });
  registerSecurityHeaders(app);
  registerRestErrors(app, log);
  app.setNotFoundHandler((request, reply) => {
    const path = request.url.split("?", 1)[0];
    return sendRefusal(reply, new Refusal("route_not_found", `There is nothing at ${request.method} ${path}.`));
  });
  return app;
}

/** Node's HTTP server, with the connections that it is not shown as long as only plain requests come in on them. */
class EventServer extends Server {
  readonly #plain: PlainConnections;

  constructor(options: ServerOptions, listener: RequestListener, plain: PlainConnections) {
    super(options, listener);
    this.#plain = plain;
    const [takeConnection] = this.listeners("connection");
    const passOn: PassOn = (socket) => takeConnection?.call(this, socket);
    this.removeAllListeners("connection").on("connection", (socket: Socket) => plain.take(socket, passOn));
  }

  override closeIdleConnections(): void {
    super.closeIdleConnections();
    this.#plain.closeIdle();
  }

  override closeAllConnections(): void {
    super.closeAllConnections();
    this.#plain.closeAll();
  }
}

function noCompiler(): never {
  throw new Error("a route outside the REST API has a schema");
}

/** What the HTTP parser itself refuses has no request to answer: a bare status line has to do. */
function answerBadRequest(error: { code?: string }, socket: Socket): void {
  if (!socket.writable || error.code === "ECONNRESET") return void socket.destroy();
  const status = STATUS_LINES[error.code ?? ""] ?? "400 Bad Request";
  socket.end(`HTTP/1.1 ${status}\r\ncontent-length: 0\r\nconnection: close\r\n\r\n`);
}

const STATUS_LINES: Readonly<Record<string, string>> = {
  ERR_HTTP_REQUEST_TIMEOUT: "408 Request Timeout",
  HPE_HEADER_OVERFLOW: "431 Request Header Fields Too Large",
};

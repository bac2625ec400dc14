/** The HTTP server: passes requests to `/e/…` to the edge and all others to the framework, and sets the limits that both share. */

import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { Refusal } from "@inlet/protocol";
import Fastify, { type FastifyInstance } from "fastify";
import type { Logger } from "pino";
import { registerSecurityHeaders } from "../api/access/security-headers.ts";
import { holdsRealtimeToken, isRealtimeConnect } from "../api/realtime/web-sockets.ts";
import { registerRestErrors, sendRefusal } from "../api/rest-errors.ts";
import { BadRequests } from "../receive/connections/bad-requests.ts";
import { dropForwardedPorts } from "../receive/connections/client-ip.ts";
import { isEnded } from "../receive/connections/close-lingering.ts";
import { type ConnectionRules, guardConnections } from "../receive/connections/guard-connections.ts";
import { SilentConnections } from "../receive/connections/silent-connections.ts";
import { originForm } from "../receive/connections/target.ts";
import { createHttpEdge, type HttpEdgeParts, isForEdge, isPreflightForEdge, writeRefusal } from "../receive/http-edge.ts";
import { registerBodyBudget, registerResponseBudget } from "./framework-bodies.ts";

/** A client must deliver its whole request within this time. */
const REQUEST_TIMEOUT_MS = 60_000;
/** Longer than the idle timeout of common load balancers, so that they close first. */
const KEEP_ALIVE_TIMEOUT_MS = 72_000;
const REST_BODY_BYTES_MAX = 1024 * 1024;
const PATH_PART_UNITS_MAX = 2_048;

export interface HttpServerParts extends HttpEdgeParts {
  connections: ConnectionRules;
}

export function createHttpServer(parts: HttpServerParts, trustProxy: boolean | string[], log: Logger): FastifyInstance {
  const edge = createHttpEdge(parts);
  const badRequests = new BadRequests();
  function route(request: IncomingMessage, response: ServerResponse, framework: RequestListener): void {
    badRequests.note(request, response);
    request.url = originForm(request.url ?? "");
    if (trustProxy !== false) dropForwardedPorts(request);
    const refused = holdsRealtimeToken(request) || isPreflightForEdge(request) ? null : parts.guard?.(request);
    if (refused) writeRefusal(request, response, refused);
    else if (isForEdge(request)) edge(request, response);
    else framework(request, response);
  }
  /** A fault here is one of this request: it ends this connection and nothing else. */
  function handle(request: IncomingMessage, response: ServerResponse, framework: RequestListener): void {
    try {
      if (isEnded(request)) response.destroy();
      else route(request, response, framework);
    } catch (error) {
      log.error({ err: error }, "a request failed unexpectedly: its connection is closed");
      response.destroy();
    }
  }
  const app = Fastify({
    serverFactory: (framework) => {
      const limits = {
        requestTimeout: REQUEST_TIMEOUT_MS,
        keepAliveTimeout: KEEP_ALIVE_TIMEOUT_MS,
        shouldUpgradeCallback: isRealtimeConnect,
      };
      const server = createServer(limits, (request, response) => handle(request, response, framework));
      // Without a listener, Node would refuse unknown expectations with a response that has no body.
      server.on("checkExpectation", (request, response) => handle(request, response, framework));
      guardConnections(server, parts.connections);
      // A client may half-close once its request is written: it still gets its response.
      return Object.assign(server, { httpAllowHalfOpen: true });
    },
    // One log line per request would cost more than accepting it, and paths contain event keys.
    logger: false,
    trustProxy,
    bodyLimit: REST_BODY_BYTES_MAX,
    forceCloseConnections: "idle",
    return503OnClosing: false,
    clientErrorHandler: (error, socket) => badRequests.answer(error, socket as Socket),
    // The REST API has its own validators, and no serialisers: the default ones need not be loaded.
    schemaController: { compilersFactory: { buildValidator: () => noCompiler, buildSerializer: () => noCompiler } },
    routerOptions: { maxParamLength: PATH_PART_UNITS_MAX },
    frameworkErrors: (error, _request, reply) => void sendRefusal(reply, new Refusal("request_invalid", error.message)),
  });
  const silent = new SilentConnections(app.server);
  app.addHook("preClose", (done) => {
    silent.close();
    done();
  });
  registerSecurityHeaders(app);
  registerBodyBudget(app, parts.budget);
  registerResponseBudget(app);
  registerRestErrors(app, log);
  app.setNotFoundHandler((request, reply) => {
    const path = request.url.split("?", 1)[0];
    return sendRefusal(reply, new Refusal("route_not_found", `There is nothing at ${request.method} ${path}.`));
  });
  return app;
}

function noCompiler(): never {
  throw new Error("a route outside the REST API has a schema");
}

/**
 * Serves functions with Fastify: `app.register(servePlugin({ client, functions }), { prefix: "/api/inlet" })`.
 * The plugin keeps the raw body for the signature; `serve` is the bare handler for your own route.
 */

import { handleRequest } from "./serving/handle-request.ts";
import { fromNode, type NodeRequest } from "./serving/node-http.ts";
import { createServedApp, type ServeOptions } from "./serving/served-app.ts";

export type { ServeOptions } from "./serving/served-app.ts";

/** The parts of Fastify that are used. */
export interface FastifyRequestLike {
  raw: unknown;
  body: unknown;
}

export interface FastifyReplyLike {
  code(status: number): FastifyReplyLike;
  headers(values: Record<string, string>): FastifyReplyLike;
  send(body: string): FastifyReplyLike;
}

/** Deliberately loose: the types of Fastify's methods depend on the app's configuration. */
export interface FastifyLike {
  removeAllContentTypeParsers: (...args: never[]) => unknown;
  addContentTypeParser: (...args: never[]) => unknown;
  route: (...args: never[]) => unknown;
}

interface FastifyCalls {
  removeAllContentTypeParsers(): unknown;
  addContentTypeParser(type: string, options: { parseAs: "buffer"; bodyLimit: number }, parser: RawParser): unknown;
  route(route: { method: string[]; url: string; handler: FastifyHandler }): unknown;
}

type RawParser = (request: unknown, body: unknown, done: (error: null, body: unknown) => void) => void;
type FastifyHandler = (request: FastifyRequestLike, reply: FastifyReplyLike) => Promise<FastifyReplyLike>;

/** Above the SDK's own limit, so that its clearer error is returned. */
const BODY_LIMIT = 32 * 1024 * 1024;

export function serve(options: ServeOptions): FastifyHandler {
  const app = createServedApp(options, "fastify");
  return async (request, reply) => {
    const response = await handleRequest(app, { ...fromNode(request.raw as NodeRequest), body: () => bodyOf(request.body) });
    return reply.code(response.status).headers(response.headers).send(response.body);
  };
}

export function servePlugin(options: ServeOptions): (instance: FastifyLike) => Promise<void> {
  const handler = serve(options);
  return async (plain) => {
    const instance = plain as unknown as FastifyCalls;
    // Only within this plugin: the parsers of the rest of the app are not changed.
    instance.removeAllContentTypeParsers();
    instance.addContentTypeParser("*", { parseAs: "buffer", bodyLimit: BODY_LIMIT }, (_request, body, done) => done(null, body));
    instance.route({ method: ["GET", "POST", "PUT"], url: "/", handler });
  };
}

function bodyOf(body: unknown): Uint8Array | { parsed: unknown } {
  if (body instanceof Uint8Array) return body;
  return body === undefined || body === null ? new Uint8Array() : { parsed: body };
}

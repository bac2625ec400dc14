/** Serves functions with Koa: `app.use(mount("/api/inlet", serve({ client, functions })))`, or in a route for GET, POST and PUT; before or after a body parser. */

import { handleRequest } from "./serving/handle-request.ts";
import { fromNode, type NodeRequest } from "./serving/node-http.ts";
import { createServedApp, type ServeOptions } from "./serving/served-app.ts";

export type { ServeOptions } from "./serving/served-app.ts";

/** The part of Koa's context that is used. */
export interface KoaContext {
  req: NodeRequest;
  request: { body?: unknown; rawBody?: unknown };
  originalUrl: string;
  status: number;
  body: unknown;
  set(headers: Record<string, string>): void;
}

export function serve(options: ServeOptions): (context: KoaContext) => Promise<void> {
  const app = createServedApp(options, "koa");
  return async (context) => {
    const { status, headers, body } = await handleRequest(app, fromNode(withBody(context)));
    context.status = status;
    context.set(headers);
    context.body = body;
  };
}

/** Node's request, with what body parsers of Koa leave at Koa's own. Of `rawBody`, a text is the body as received, in UTF-8. */
function withBody({ req, request, originalUrl }: KoaContext): NodeRequest {
  const { method, headers, complete, socket } = req;
  const body = typeof request.rawBody === "string" ? request.rawBody : request.body;
  return { method, headers, complete, socket, originalUrl, body, on: req.on.bind(req) as NodeRequest["on"] };
}

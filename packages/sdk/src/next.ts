/** Serves functions from a route of Next's App Router: `export const { GET, POST, PUT } = serve({ client, functions })`. */

import { fromFetch, toFetch } from "./serving/fetch-http.ts";
import { handleRequest } from "./serving/handle-request.ts";
import { createServedApp, type ServeOptions } from "./serving/served-app.ts";

export type { ServeOptions } from "./serving/served-app.ts";

export type RouteHandler = (request: Request) => Promise<Response>;

export function serve(options: ServeOptions): { GET: RouteHandler; POST: RouteHandler; PUT: RouteHandler } {
  const app = createServedApp(options, "nextjs");
  const handler: RouteHandler = async (request) => toFetch(await handleRequest(app, fromFetch(request)));
  return { GET: handler, POST: handler, PUT: handler };
}

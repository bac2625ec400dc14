/** Handlers of frameworks that pass a Request of the Fetch standard inside their own argument. */

import { fromFetch, toFetch } from "./fetch-http.ts";
import { handleRequest } from "./handle-request.ts";
import { createServedApp, type ServeOptions } from "./served-app.ts";

/** The part of the argument that is used. */
export interface RequestEvent {
  request: Request;
}

export type RequestHandler = (event: RequestEvent) => Promise<Response>;

export function serveRequests(options: ServeOptions, framework: string): RequestHandler {
  const app = createServedApp(options, framework);
  return async ({ request }) => toFetch(await handleRequest(app, fromFetch(request)));
}

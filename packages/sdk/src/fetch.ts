/** Serves functions on runtimes with the Fetch standard: `Bun.serve({ fetch: serve(…) })`, `Deno.serve(serve(…))`, edge runtimes. */

import { fromFetch, toFetch } from "./serving/fetch-http.ts";
import { handleRequest } from "./serving/handle-request.ts";
import { createServedApp, type ServeOptions } from "./serving/served-app.ts";

export type { ServeOptions } from "./serving/served-app.ts";

export function serve(options: ServeOptions): (request: Request) => Promise<Response> {
  const app = createServedApp(options, "fetch");
  return async (request) => toFetch(await handleRequest(app, fromFetch(request)));
}

/** Serves functions with Hono: `app.on(["GET", "POST", "PUT"], "/api/inlet", serve({ client, functions }))`. */

import { fromFetch, toFetch } from "./serving/fetch-http.ts";
import { handleRequest } from "./serving/handle-request.ts";
import { createServedApp, type ServeOptions } from "./serving/served-app.ts";

export type { ServeOptions } from "./serving/served-app.ts";

/** The part of Hono's context that is used. */
export interface HonoContext {
  req: { raw: Request; arrayBuffer(): Promise<ArrayBuffer> };
}

export function serve(options: ServeOptions): (context: HonoContext) => Promise<Response> {
  const app = createServedApp(options, "hono");
  // Uses Hono's own reader, which also works after a middleware has read the body.
  return async ({ req }) =>
    toFetch(
      await handleRequest(
        app,
        fromFetch(req.raw, () => req.arrayBuffer()),
      ),
    );
}

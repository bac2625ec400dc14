/** Serves functions on Cloudflare Workers: `export default serve((env) => ({ client: new Inlet({ id: "shop", variables: env }), functions: […] }))`. */

import { fromFetch, toFetch } from "./serving/fetch-http.ts";
import { handleRequest } from "./serving/handle-request.ts";
import { createServedApp, type ServedApp, type ServeOptions } from "./serving/served-app.ts";
import type { Variables } from "./variables.ts";

export type { ServeOptions } from "./serving/served-app.ts";

/** Bindings that are not text, such as namespaces, are passed through. */
type Bindings = Variables & Record<string, unknown>;

/** A worker gets its variables with each request, so a client that needs them is made from these. */
export function serve(options: ServeOptions | ((env: Bindings) => ServeOptions)): {
  fetch(request: Request, env?: object): Promise<Response>;
} {
  const served = new WeakMap<object, ServedApp>();
  const only = typeof options === "function" ? undefined : createServedApp(options, "cloudflare");
  const appOf = (env: object) => {
    if (typeof options !== "function") return only as ServedApp;
    const app = served.get(env) ?? createServedApp(options(env as Bindings), "cloudflare");
    served.set(env, app);
    return app;
  };
  return { fetch: async (request, env = {}) => toFetch(await handleRequest(appOf(env), fromFetch(request))) };
}

/** Serves functions with h3, Nitro and Nuxt: `export default defineEventHandler(serve({ client, functions }))` in `server/api/inlet.ts`. */

import { fromFetch, toFetch } from "./serving/fetch-http.ts";
import { handleRequest } from "./serving/handle-request.ts";
import { fromNode, type NodeRequest, type NodeResponse, toNode } from "./serving/node-http.ts";
import { createServedApp, type ServeOptions } from "./serving/served-app.ts";

export type { ServeOptions } from "./serving/served-app.ts";

/** The part of h3's event that is used: `node` in version 1, a Request as `req` in version 2, where `node.res` may be missing. */
export interface H3Event {
  node?: { req: NodeRequest; res?: NodeResponse | undefined } | undefined;
  req?: unknown;
}

/** Version 1 gets its response at Node's response, version 2 as a Response. */
export function serve(options: ServeOptions): (event: H3Event) => Promise<Response | undefined> {
  const app = createServedApp(options, "h3");
  return async ({ node, req }) => {
    if (req instanceof Request) return toFetch(await handleRequest(app, fromFetch(req)));
    if (!node?.res) throw new TypeError("An event of h3 has a Request as req, or Node's request and response as node.req and node.res");
    toNode(node.res, await handleRequest(app, fromNode(node.req)));
    return undefined;
  };
}

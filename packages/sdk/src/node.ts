/** Serves functions with Node's own http server: `createServer(serve({ client, functions }))`. */

import { handleRequest } from "./serving/handle-request.ts";
import { fromNode, type NodeRequest, type NodeResponse, toNode } from "./serving/node-http.ts";
import { createServedApp, type ServeOptions } from "./serving/served-app.ts";

export type { ServeOptions } from "./serving/served-app.ts";

export function serve(options: ServeOptions): (request: NodeRequest, response: NodeResponse) => Promise<void> {
  const app = createServedApp(options, "nodejs");
  return async (request, response) => toNode(response, await handleRequest(app, fromNode(request)));
}

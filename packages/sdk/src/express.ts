/** Serves functions with Express: `app.use("/api/inlet", serve({ client, functions }))`, before or after `express.json()`. */

import { handleRequest } from "./serving/handle-request.ts";
import { fromNode, type NodeRequest, type NodeResponse, toNode } from "./serving/node-http.ts";
import { createServedApp, type ServeOptions } from "./serving/served-app.ts";

export type { ServeOptions } from "./serving/served-app.ts";

export function serve(options: ServeOptions): (request: NodeRequest, response: NodeResponse) => Promise<void> {
  const app = createServedApp(options, "express");
  return async (request, response) => toNode(response, await handleRequest(app, fromNode(request)));
}

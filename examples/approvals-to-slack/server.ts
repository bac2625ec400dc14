/** Serves the functions. */

import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { serve } from "@inlet/sdk/node";
import { functions, inlet } from "./approvals.ts";

const handler = serve({ client: inlet, functions });

const server = createServer((request, response) => {
  if (request.url?.startsWith("/api/inlet")) return handler(request, response);
  response.writeHead(404).end();
});

server.listen(Number(process.env.PORT ?? 3000), "127.0.0.1", () => {
  console.log(`listening on http://127.0.0.1:${(server.address() as AddressInfo).port}`);
});

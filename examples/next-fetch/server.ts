/** Replaces Next in this example: passes standard Request objects to the route, as Next does. */

import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { Readable } from "node:stream";
import { GET, POST, PUT } from "./app/api/inlet/route.ts";

const METHODS = new Map(Object.entries({ GET, POST, PUT }));

const server = createServer(async (incoming, outgoing) => {
  const handler = incoming.url?.startsWith("/api/inlet") ? METHODS.get(incoming.method ?? "") : undefined;
  const response = handler ? await handler(requestOf(incoming)) : new Response("not found", { status: 404 });
  outgoing.writeHead(response.status, Object.fromEntries(response.headers));
  outgoing.end(await response.text());
});

function requestOf(incoming: IncomingMessage): Request {
  const { method = "GET", headers, url } = incoming;
  const body = method === "GET" ? {} : { body: Readable.toWeb(incoming) as ReadableStream, duplex: "half" as const };
  return new Request(`http://${headers.host}${url}`, { method, headers: headers as Record<string, string>, ...body });
}

server.listen(Number(process.env.PORT ?? 3000), "127.0.0.1", () => {
  console.log(`listening on http://127.0.0.1:${(server.address() as AddressInfo).port}`);
});

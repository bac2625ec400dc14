/** Stands in for Next: hands requests to the route as Next would, with the standard Request and Response. */

import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { Readable } from "node:stream";
import { GET, POST, PUT } from "./app/api/inlet/route.ts";

const METHODS = new Map(Object.entries({ GET, POST, PUT }));

const server = createServer(async (incoming, outgoing) => {
  const handler = incoming.url?.startsWith("/api/inlet") ? METHODS.get(incoming.method ?? "") : undefined;
  const answer = handler ? await handler(requestOf(incoming)) : new Response("not found", { status: 404 });
  outgoing.writeHead(answer.status, Object.fromEntries(answer.headers));
  outgoing.end(await answer.text());
});

function requestOf(incoming: IncomingMessage): Request {
  const { method = "GET", headers, url } = incoming;
  const body = method === "GET" ? {} : { body: Readable.toWeb(incoming) as ReadableStream, duplex: "half" as const };
  return new Request(`http://${headers.host}${url}`, { method, headers: headers as Record<string, string>, ...body });
}

server.listen(Number(process.env.PORT ?? 3000), "127.0.0.1", () => {
  console.log(`listening on http://127.0.0.1:${(server.address() as AddressInfo).port}`);
});

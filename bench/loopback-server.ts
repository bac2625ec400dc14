/** What the servers of the benchmarks have in common: where they listen, and how events are read and answered. */

import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** Prints the address, which whoever started the process waits for. */
export function listen(server: Server): void {
  server.listen(0, "127.0.0.1", () => console.log(`listening on http://127.0.0.1:${(server.address() as AddressInfo).port}`));
}

export function onJson(request: IncomingMessage, receive: (value: unknown) => void): void {
  const chunks: Buffer[] = [];
  request.on("data", (chunk: Buffer) => chunks.push(chunk));
  request.on("end", () => receive(JSON.parse(Buffer.concat(chunks).toString())));
}

/** As many as a body holds: one, or those of a batch. */
export function countEvents(body: unknown): number {
  return Array.isArray(body) ? body.length : 1;
}

/** The bytes Inlet answers. */
export function answerIds(response: ServerResponse, ids: readonly string[]): void {
  const body = `{"ids":["${ids.join('","')}"],"status":200}`;
  response.writeHead(200, { "content-type": "application/json", "content-length": body.length, "access-control-allow-origin": "*" });
  response.end(body);
}

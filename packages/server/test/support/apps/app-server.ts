/** An app of a user: a server of its own on a free port, registered with the service, gone after the test. */

import assert from "node:assert/strict";
import { createServer, type IncomingMessage, type RequestListener, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { Readable } from "node:stream";
import type { TestContext } from "node:test";
import { onEnd } from "../on-end.ts";
import type { TestService } from "../service.ts";

export interface RunningApp {
  url: string;
  server: Server;
  stop(): Promise<void>;
}

/** Serves the listener under /api/inngest. */
export async function serveApp(t: TestContext, listener: RequestListener, port = 0): Promise<RunningApp> {
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(port, "127.0.0.1", resolve));
  async function stop(): Promise<void> {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
  onEnd(t, stop);
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/api/inngest`, server, stop };
}

/** Asks the service to sync the app; returns it as the service shows it. */
export async function syncApp(service: TestService, url: string, headers: Record<string, string> = {}) {
  const { status, body } = await service.rest("POST", "/apps", { body: { url }, headers });
  assert.equal(status, 201, JSON.stringify(body));
  return body.data;
}

/** A handler as fetch knows it, behind Node's http: the answer goes out as it comes. */
export function asListener(handle: (request: Request) => Promise<Response>): RequestListener {
  return (request, response) => {
    answer(handle, request, response).catch((error) => response.destroy(error as Error));
  };
}

async function answer(handle: (request: Request) => Promise<Response>, incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
  const chunks: Buffer[] = [];
  for await (const chunk of incoming) chunks.push(chunk as Buffer);
  const headers = Object.entries(incoming.headers).map(([name, value]): [string, string] => [name, String(value)]);
  const body = chunks.length > 0 ? Buffer.concat(chunks) : null;
  const response = await handle(
    new Request(`http://${incoming.headers.host}${incoming.url}`, { method: incoming.method ?? "GET", headers, body }),
  );
  outgoing.writeHead(response.status, Object.fromEntries(response.headers));
  if (response.body) Readable.fromWeb(response.body as never).pipe(outgoing);
  else outgoing.end();
}

/** A server in front of an HTTP server that passes everything on, and cuts the connection in the middle of as many responses as it is told to. */

import { createServer, type IncomingMessage, request, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";
import type { TestContext } from "node:test";
import { onEnd } from "./on-end.ts";

export interface ResponseCutter {
  url: string;
  /** So many of the responses that have a body and come from now on. */
  cut(times: number): void;
}

export async function cutResponses(t: TestContext, target: string): Promise<ResponseCutter> {
  let cutsLeft = 0;
  const server = createServer(async (incoming, response) => {
    const passed = await passOn(incoming, target);
    const body = await buffer(passed);
    response.writeHead(passed.statusCode ?? 500, { ...passed.headers, "content-length": passed.headers["content-length"] ?? body.length });
    if (body.length === 0 || cutsLeft === 0) return void response.end(body);
    cutsLeft--;
    cutInBody(response, body);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onEnd(t, () => void server.close().closeAllConnections());
  const cut = (times: number) => {
    cutsLeft = times;
  };
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, cut };
}

async function passOn(incoming: IncomingMessage, target: string): Promise<IncomingMessage> {
  const body = await buffer(incoming);
  const { method, headers } = incoming;
  return new Promise((resolve, reject) => {
    const passed = request(target + incoming.url, { method, headers, agent: false }, resolve);
    passed.once("error", reject).end(body);
  });
}

function cutInBody(response: ServerResponse, body: Buffer): void {
  response.write(body.subarray(0, body.length >> 1), () => response.destroy());
}

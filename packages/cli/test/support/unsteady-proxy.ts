/** A proxy in front of the service that misbehaves as networks do: it can turn requests away, not reach the service, or lose answers on the way back. */

import { createServer, type IncomingMessage, request, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { TestContext } from "node:test";
import { onEnd } from "../../../server/test/support/on-end.ts";

/** "event gone": what the service responds about an event that was removed meanwhile. */
export type Mishap = "none" | "turned away" | "bad gateway" | "answer lost" | "never arrives" | "event gone";

const GONE = '{"error":"There is no such event.","code":"event_not_found","status":404}';

export interface UnsteadyProxy {
  url: string;
  /** What happens to the next requests, one after the other; then all goes well. */
  next: Mishap[];
  /** How many requests came in. */
  seen(): number;
  /** Cuts every connection that is open now. */
  cut(): void;
  /** Requests whose path matches wait, until they are let go. */
  hold(path: RegExp): { waiting(): number; letGo(): void };
}

export async function unsteadyProxy(t: TestContext, target: string, next: Mishap[] = []): Promise<UnsteadyProxy> {
  let seen = 0;
  let held: { path: RegExp; waiting: (() => void)[] } | null = null;
  const server = createServer(async (incoming, outgoing) => {
    seen++;
    if (held?.path.test(incoming.url ?? "")) await new Promise<void>((resolve) => held?.waiting.push(resolve));
    const mishap = proxy.next.shift() ?? "none";
    if (mishap === "turned away") outgoing.writeHead(503, { "retry-after": "0" }).end('{"error":"Full.","code":"overloaded","status":503}');
    else if (mishap === "bad gateway") outgoing.writeHead(502, { "content-type": "text/html" }).end("<h1>502 Bad Gateway</h1>");
    else if (mishap === "event gone") outgoing.writeHead(404).end(GONE);
    else if (mishap === "never arrives") incoming.socket.destroy();
    else pass(target, incoming, outgoing, mishap === "answer lost");
  }).listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  onEnd(t, () => {
    server.closeAllConnections();
    server.close();
  });
  const proxy: UnsteadyProxy = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    next,
    seen: () => seen,
    cut: () => server.closeAllConnections(),
    hold(path) {
      const waiting: (() => void)[] = [];
      held = { path, waiting };
      const letGo = () => {
        held = null;
        for (const go of waiting) go();
      };
      return { waiting: () => waiting.length, letGo };
    },
  };
  return proxy;
}

function pass(target: string, incoming: IncomingMessage, outgoing: ServerResponse, isLost: boolean): void {
  const { method, headers, url } = incoming;
  const onward = request(`${target}${url}`, { method, headers }, (answer) => {
    if (isLost) return void incoming.socket.destroy();
    outgoing.writeHead(answer.statusCode ?? 500, answer.headers);
    // Headers of a stream must not wait for its first event.
    outgoing.flushHeaders();
    answer.pipe(outgoing);
    answer.on("error", () => outgoing.destroy());
  });
  onward.on("error", () => outgoing.destroy());
  outgoing.on("close", () => onward.destroy());
  incoming.pipe(onward);
}

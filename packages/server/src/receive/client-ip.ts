/** The client's address: the socket's, or what trusted proxies say in X-Forwarded-For. */

import type { IncomingMessage } from "node:http";
import proxyAddr from "@fastify/proxy-addr";

export type ClientIp = (request: Pick<IncomingMessage, "socket" | "headers">) => string;

/** `trusted` is true for any proxy, or the addresses and ranges of the proxies to believe. */
export function createClientIp(trusted: boolean | string[]): ClientIp {
  if (trusted === false) return (request) => request.socket.remoteAddress ?? "";
  const isTrusted = trusted === true ? () => true : proxyAddr.compile(trusted);
  return (request) => proxyAddr(request as IncomingMessage, isTrusted);
}

/** The client's address: that of the socket, or the one that trusted proxies report in X-Forwarded-For. */

import type { IncomingMessage } from "node:http";
import proxyAddr from "@fastify/proxy-addr";

export type ClientIp = (request: Pick<IncomingMessage, "socket" | "headers">) => string;

/** `trusted` is true for any proxy, or the addresses and ranges of trusted proxies. */
export function createClientIp(trusted: boolean | string[]): ClientIp {
  if (trusted === false) return (request) => request.socket.remoteAddress ?? "";
  const isTrusted = createProxyCheck(trusted);
  return (request) => proxyAddr(request as IncomingMessage, isTrusted);
}

/** Whether an address is that of a trusted proxy. */
export function createProxyCheck(trusted: boolean | string[]): (address: string) => boolean {
  if (typeof trusted === "boolean") return () => trusted;
  const isTrusted = proxyAddr.compile(trusted);
  return (address) => address !== "" && isTrusted(address, 0);
}

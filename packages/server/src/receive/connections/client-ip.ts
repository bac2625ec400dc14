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

/** An IPv4 address with a port, or an IPv6 address in brackets. Bounded: headers may be long. */
const WITH_PORT = /(\d{1,3}(?:\.\d{1,3}){3}):\d{1,5}|\[([\da-f:.]+)\](?::\d{1,5})?/gi;

/**
 * Some proxies append the port, as in `203.0.113.7:52100`. Lists, limits and the check for trusted proxies compare addresses: each
 * connection would be an address of its own, and no list would name it.
 */
export function dropForwardedPorts({ headers }: Pick<IncomingMessage, "headers">): void {
  const forwarded = headers["x-forwarded-for"];
  if (typeof forwarded === "string") headers["x-forwarded-for"] = forwarded.replace(WITH_PORT, "$1$2");
}

/** Whether an address is that of a trusted proxy. */
export function createProxyCheck(trusted: boolean | string[]): (address: string) => boolean {
  if (typeof trusted === "boolean") return () => trusted;
  const isTrusted = proxyAddr.compile(trusted);
  return (address) => address !== "" && isTrusted(address, 0);
}

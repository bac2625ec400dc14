/**
 * The address under which a caller reaches the service, for URLs that are handed out. Anybody can write anything into `Host`, and a URL with
 * a secret in it must not lead to whoever did: the header is believed when a trusted proxy passed it on, or when it names the very
 * address the connection was made to, or the reader's own machine.
 */

import { isIP, type Socket } from "node:net";
import type { FastifyRequest } from "fastify";

export interface OwnAddressRules {
  publicUrl: string | null;
  /** Whether an address is that of a trusted proxy. */
  isProxy(address: string): boolean;
}

export function ownAddress({ publicUrl, isProxy }: OwnAddressRules, { socket, protocol, host }: FastifyRequest): string {
  if (publicUrl !== null) return publicUrl;
  const asked = URL.parse(`${protocol}://${host}`);
  const isBelieved = asked !== null && (isProxy(socket.remoteAddress ?? "") || isHarmless(asked.hostname, socket));
  return isBelieved ? asked.origin : addressOf(socket);
}

const LOOPBACK = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])$/;

/** A loopback name leads to the machine of whoever reads the URL, and to nobody else. */
function isHarmless(hostname: string, socket: Socket): boolean {
  return LOOPBACK.test(hostname) || hostname.replace(/^\[|\]$/g, "") === localAddress(socket);
}

function addressOf(socket: Socket): string {
  const local = localAddress(socket);
  return `http://${isIP(local) === 6 ? `[${local}]` : local}:${socket.localPort}`;
}

/** A socket that listens on both families shows 10.0.0.1 as ::ffff:10.0.0.1. */
function localAddress({ localAddress = "" }: Socket): string {
  return localAddress.replace(/^::ffff:(?=\d+\.)/i, "");
}

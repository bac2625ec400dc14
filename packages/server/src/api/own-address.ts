/**
 * The URL at which a client reaches the service, for generated URLs. A client can send any `Host`, and a URL that contains a secret must
 * not point to a host of an attacker: the header is used only if a trusted proxy passed it on, or if it names the actual
 * address of the connection, or the client's own machine. A request that the service makes to itself, for a tool, has no connection: its
 * `Host` is what was found here for the caller.
 */

import { isIP, Socket } from "node:net";
import type { FastifyRequest } from "fastify";

export interface OwnAddressRules {
  publicUrl: string | null;
  /** Whether an address is that of a trusted proxy. */
  isProxy(address: string): boolean;
}

export function ownAddress({ publicUrl, isProxy }: OwnAddressRules, { socket, protocol, host }: FastifyRequest): string {
  if (publicUrl !== null) return publicUrl;
  const asked = URL.parse(`${protocol}://${host}`);
  const isBelieved =
    asked !== null && (!(socket instanceof Socket) || isProxy(socket.remoteAddress ?? "") || isHarmless(asked.hostname, socket));
  return isBelieved ? asked.origin : addressOf(socket);
}

const LOOPBACK = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])$/;

/** A loopback name refers to the reader's own machine, and to no other. */
function isHarmless(hostname: string, socket: Socket): boolean {
  return LOOPBACK.test(hostname) || hostname.replace(/^\[|\]$/g, "") === localAddress(socket);
}

function addressOf(socket: Socket): string {
  const local = localAddress(socket);
  return `http://${isIP(local) === 6 ? `[${local}]` : local}:${socket.localPort}`;
}

/** A dual-stack socket shows 10.0.0.1 as ::ffff:10.0.0.1. */
function localAddress({ localAddress = "" }: Socket): string {
  return localAddress.replace(/^::ffff:(?=\d+\.)/i, "");
}

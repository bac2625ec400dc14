/**
 * Which requests get Inngest's REST shapes instead of ours: those that bring a signing key, as Inngest's own API wants it, and on a
 * dev server also those with the headers of Inngest's SDKs. The router chooses by this, so the same path has two handlers.
 */

import type { IncomingHttpHeaders, IncomingMessage } from "node:http";
import type { FastifyInstance } from "fastify";
import type { Key } from "../../store/contract/index.ts";

export interface PeerCheck {
  isDev: boolean;
  /** Whether the text is an API key of ours: it may look like anything, since people choose their own. */
  isApiKey(text: string): boolean;
  signingKeyOf(bearer: string): Key | null;
}

/** A route with these constraints is found by the peer's requests only; all others fall to the route without. */
export const FOR_PEER = { client: "inngest" } as const;

const BARE_KEY = /^[0-9a-fA-F]{32,}$/;

export function registerPeerConstraint(app: FastifyInstance, check: PeerCheck): void {
  app.addConstraintStrategy({
    name: "client",
    storage() {
      const handlers = new Map<unknown, never>();
      return { get: (value) => handlers.get(value) ?? null, set: (value, handler) => void handlers.set(value, handler as never) };
    },
    deriveConstraint: (request: IncomingMessage) => (isPeer(check, request.headers) ? FOR_PEER.client : undefined),
  });
}

function isPeer({ isDev, isApiKey, signingKeyOf }: PeerCheck, headers: IncomingHttpHeaders): boolean {
  const bearer = /^Bearer +(\S+)$/i.exec(headers.authorization ?? "")?.[1];
  if (bearer !== undefined && isApiKey(bearer)) return false;
  if (bearer?.startsWith("signkey-")) return true;
  if (bearer !== undefined && BARE_KEY.test(bearer) && signingKeyOf(bearer) !== null) return true;
  return isDev && headers["x-inngest-sdk"] !== undefined;
}

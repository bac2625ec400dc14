/**
 * Selects the requests that get Inngest's REST shapes instead of ours: those with a signing key, as Inngest's own API requires it, and on
 * a dev server also those with the headers of Inngest's SDKs. The router uses this, so the same path has two handlers.
 */

import type { IncomingHttpHeaders, IncomingMessage } from "node:http";
import type { FastifyInstance } from "fastify";
import type { Key } from "../../store/contract/index.ts";

export interface PeerCheck {
  isDev: boolean;
  /** Whether the text is one of our API keys, which can have any form, since people choose their own. */
  isApiKey(text: string): boolean;
  signingKeyOf(bearer: string): Key | null;
}

/** A route with these constraints serves the peer's requests only; all others go to the route without. */
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

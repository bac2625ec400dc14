/**
 * Whether a browser sent a request from our own pages. Browsers send cookies with every request, whichever page caused
 * it. A request that changes something must come from our own origin.
 */

import type { FastifyRequest } from "fastify";

/** `unknown`: the client is not a browser, or does not say where the request comes from. */
export type Origin = "same" | "cross" | "unknown";

export function originOf({ headers, host }: FastifyRequest, publicUrl: string | null): Origin {
  const site = headers["sec-fetch-site"];
  if (site !== undefined) return site === "same-origin" ? "same" : "cross";
  const { origin } = headers;
  if (origin === undefined) return "unknown";
  const from = URL.canParse(origin) ? new URL(origin).host : null;
  // The scheme is ignored: behind a TLS proxy we may not know it, and the host determines the owner of the page.
  return from !== null && (from === host || from === hostOf(publicUrl)) ? "same" : "cross";
}

function hostOf(url: string | null): string | null {
  return url === null ? null : new URL(url).host;
}

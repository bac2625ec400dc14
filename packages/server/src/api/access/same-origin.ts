/**
 * Whether a browser sent a request from our own pages. Cookies travel with every request a browser makes, whichever page caused
 * it. What changes something must come from ourselves.
 */

import type { FastifyRequest } from "fastify";

/** `unknown`: no browser that says where it comes from, or none at all. */
export type Origin = "same" | "cross" | "unknown";

export function originOf({ headers, host }: FastifyRequest, publicUrl: string | null): Origin {
  const site = headers["sec-fetch-site"];
  if (site !== undefined) return site === "same-origin" ? "same" : "cross";
  const { origin } = headers;
  if (origin === undefined) return "unknown";
  const from = URL.canParse(origin) ? new URL(origin).host : null;
  // The scheme is left out: behind a proxy that ends TLS we may not know it, and the host decides whose page it is.
  return from !== null && (from === host || from === hostOf(publicUrl)) ? "same" : "cross";
}

function hostOf(url: string | null): string | null {
  return url === null ? null : new URL(url).host;
}

/**
 * Headers that keep a browser from misusing a response. They are the default for all responses; a route
 * can override them, as the dashboard's pages do for scripts and styles.
 */

import type { FastifyInstance } from "fastify";

const HEADERS: Readonly<Record<string, string>> = {
  "x-content-type-options": "nosniff",
  "x-frame-options": "DENY",
  "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
  "referrer-policy": "no-referrer",
  "cross-origin-resource-policy": "same-origin",
};

/** Set on the raw response, so that streams, which bypass the framework, have them too. */
export function registerSecurityHeaders(app: FastifyInstance): void {
  app.addHook("onRequest", async (_request, { raw }) => {
    for (const [name, value] of Object.entries(HEADERS)) raw.setHeader(name, value);
  });
}

/** Responses with payloads and keys must not be cached. */
export function registerNoStore(app: FastifyInstance): void {
  app.addHook("onRequest", async (_request, { raw }) => void raw.setHeader("cache-control", "no-store"));
}

/**
 * Headers that keep a browser from doing with an answer what it was not meant for. They are what everything gets unless a route
 * says otherwise, as the pages of a dashboard do about scripts and styles.
 */

import type { FastifyInstance } from "fastify";

const HEADERS: Readonly<Record<string, string>> = {
  "x-content-type-options": "nosniff",
  "x-frame-options": "DENY",
  "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
  "referrer-policy": "no-referrer",
  "cross-origin-resource-policy": "same-origin",
};

/** On the raw answer, so that streams, which bypass the framework, carry them too. */
export function registerSecurityHeaders(app: FastifyInstance): void {
  app.addHook("onRequest", async (_request, { raw }) => {
    for (const [name, value] of Object.entries(HEADERS)) raw.setHeader(name, value);
  });
}

/** Answers about payloads and keys are nobody's to keep. */
export function registerNoStore(app: FastifyInstance): void {
  app.addHook("onRequest", async (_request, { raw }) => void raw.setHeader("cache-control", "no-store"));
}

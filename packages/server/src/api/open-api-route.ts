/** REST: the OpenAPI document, public. */

import type { FastifyInstance } from "fastify";
import { type DocumentedRoute, openApiDocument } from "./open-api.ts";
import { closed } from "./rest-schemas.ts";

export interface OpenApiRouteParts {
  /** Of the program. */
  version: string;
}

export function registerOpenApiRoute(app: FastifyInstance, routes: readonly DocumentedRoute[], { version }: OpenApiRouteParts): void {
  let text: string | null = null;
  app.get(
    "/openapi.json",
    {
      config: { about: "anyone" },
      schema: {
        summary: "This document",
        querystring: closed({}),
        response: { 200: { type: "object", description: "OpenAPI 3.1, generated from the routes." } },
      },
    },
    async (_request, reply) => {
      // Generated on first request: by then every route is registered.
      text ??= JSON.stringify(openApiDocument(routes, version));
      reply.type("application/json");
      return text;
    },
  );
}

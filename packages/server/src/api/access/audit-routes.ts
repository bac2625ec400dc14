/** REST: the audit log. */

import type { FastifyInstance } from "fastify";
import { ACTOR_KINDS, type AuditEntry, type Environment, type StoreViews } from "../../store/contract/index.ts";
import { readCursor, writeCursor } from "../cursors.ts";
import { readInstant } from "../instant.ts";
import { closed, PAGE_PARAMETERS } from "../rest-schemas.ts";
import { INSTANT, pageOf, shape, TEXT, TEXT_OR_NULL } from "../route-facts.ts";
import { includesEnvironment } from "./grants.ts";
import { environmentsAllowed } from "./rest-access.ts";

export interface AuditRoutesParts {
  views: StoreViews;
  directory: { environments(): Environment[] };
}

interface ListQuery {
  limit: number;
  cursor?: string;
  actor?: string;
  action?: string;
  from?: string;
  to?: string;
}

const LIST_PARAMETERS = closed({
  ...PAGE_PARAMETERS,
  actor: {
    type: "string",
    minLength: 1,
    description: `The id of an actor, such as a key or session, or a kind: ${ACTOR_KINDS.join(", ")}.`,
  },
  action: { type: "string", minLength: 1, description: "Such as `webhook.updated`; may end in `*`." },
  from: { type: "string", description: "At or after: ISO 8601 or milliseconds." },
  to: { type: "string", description: "Before: ISO 8601 or milliseconds." },
});

const ENTRY = shape(
  {
    id: TEXT,
    at: INSTANT,
    actor: shape({ kind: { type: "string", enum: ACTOR_KINDS }, id: TEXT, name: TEXT }),
    action: { type: "string", description: "What happened: `<noun>.<what happened to it>`." },
    target: shape({ kind: TEXT, id: TEXT, name: TEXT }),
    environment: { ...TEXT_OR_NULL, description: "Null: it concerns the installation." },
    details: { type: "object", additionalProperties: true },
  },
  { title: "AuditEntry" },
);

export function registerAuditRoutes(app: FastifyInstance, { views, directory }: AuditRoutesParts): void {
  const list = {
    summary: "List who changed what, newest first",
    description: "In the environments of the caller; changes of the installation are shown only to unrestricted roles.",
    querystring: LIST_PARAMETERS,
    response: { 200: pageOf(ENTRY) },
  };
  app.get<{ Querystring: ListQuery }>("/audit-log", { config: { about: "visible" }, schema: list }, async (request) => {
    const { limit, cursor, from, to, actor, action } = request.query;
    const allowed = environmentsAllowed(request);
    const seen = directory.environments().filter((environment) => includesEnvironment(allowed, environment));
    const { entries, next } = await views.auditList({
      limit,
      ...(allowed !== null && { environments: seen.map(({ name }) => name) }),
      ...(cursor !== undefined && { after: readCursor(cursor) }),
      ...(from !== undefined && { from: readInstant("from", from) }),
      ...(to !== undefined && { to: readInstant("to", to) }),
      ...(actor !== undefined && { actor }),
      ...(action !== undefined && { action }),
    });
    return { data: entries.map(view), page: { next: next && writeCursor(next) } };
  });
}

function view({ sequence, at, actor, action, target, environment, details }: AuditEntry) {
  return { id: `aud_${sequence}`, at: new Date(at).toISOString(), actor, action, target, environment, details: JSON.parse(details) };
}

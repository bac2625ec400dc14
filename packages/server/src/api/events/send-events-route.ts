/** REST: sends events with a session or an API key, as people do in the dashboard. Apps send with an event key. */

import type { ErrorCode, Refusal } from "@inlet/protocol";
import type { FastifyInstance } from "fastify";
import type { Environment, EventAppendResult, EventSource } from "../../store/contract/index.ts";
import type { AuditTrail } from "../access/audit-trail.ts";
import { principalOf } from "../access/principal.ts";
import { type AccessRules, environmentOf } from "../access/rest-access.ts";
import { RestRefusal } from "../rest-errors.ts";
import { closed } from "../rest-schemas.ts";
import { dataOf, listOf, shape, TEXT } from "../route-facts.ts";

export interface SendEventsRouteParts {
  access: AccessRules;
  audit: AuditTrail;
  /** Accepts the events of a body, as the Event API does. */
  sendEvents(sender: { environment: Environment; source: EventSource }, body: Buffer): Promise<EventAppendResult | Refusal>;
}

/** As in the audit log of other bulk changes: enough to find them. */
const NOTED_IDS_MAX = 20;

const EVENT = {
  type: "object",
  required: ["name", "data"],
  properties: { name: TEXT, data: { type: "object", additionalProperties: true }, id: TEXT, ts: { type: "integer" } },
  additionalProperties: true,
} as const;

const SCHEMA = {
  summary: "Send events",
  description: "An event or an array of them, as for the Event API. Apps send with an event key to `POST /e/<key>`.",
  querystring: closed({}),
  body: { anyOf: [EVENT, listOf(EVENT)] },
  response: { 201: dataOf(shape({ ids: listOf(TEXT) }, { title: "SentEvents" })) },
  errors: ["body_invalid", "event_invalid", "event_schema", "environment_not_found", "quota_exceeded"] as ErrorCode[],
};

const isAnything = (value: unknown) => ({ value });

export function registerSendEventsRoute(app: FastifyInstance, { access, audit, sendEvents }: SendEventsRouteParts): void {
  app.register(async (scope) => {
    // Events are kept as they are written: parsing and writing them again would round large numbers. The Event API's rules apply.
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser("application/json", { parseAs: "buffer" }, (_request, body, done) => done(null, body));
    scope.setValidatorCompiler((part) => (part.httpPart === "body" || !app.validatorCompiler ? isAnything : app.validatorCompiler(part)));
    scope.post<{ Body: Buffer }>(
      "/events",
      { config: { about: "environment", idempotent: "replayed" }, schema: SCHEMA },
      async (request, reply) => {
        const environment = environmentOf(access, request);
        if (environment.kind === "shared" || environment.archivedAt !== null) {
          throw new RestRefusal("environment_not_found", `The environment "${environment.name}" accepts no events.`);
        }
        const { keyId } = principalOf(request);
        const sent = await sendEvents({ environment, source: { kind: "key", id: keyId } }, request.body ?? Buffer.alloc(0));
        if ("code" in sent) throw new RestRefusal(sent.code, sent.message, sent.details, sent.retryAfterS);
        await audit.note(request, {
          action: "event.sent",
          target: { kind: "event", id: sent.ids[0] ?? "", name: "" },
          environment: environment.name,
          details: { ids: sent.ids.slice(0, NOTED_IDS_MAX), count: sent.ids.length },
        });
        reply.status(201);
        return { data: { ids: sent.ids } };
      },
    );
  });
}

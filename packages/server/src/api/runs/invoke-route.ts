/** REST: starts one function, whatever its triggers. */

import type { FastifyInstance } from "fastify";
import type { Environment } from "../../store/contract/index.ts";
import type { AuditTrail } from "../access/audit-trail.ts";
import { type AccessRules, environmentOf } from "../access/rest-access.ts";
import { memberText } from "../body-text.ts";
import type { Invoked } from "../inngest/apps-routes.ts";
import { RestRefusal } from "../rest-errors.ts";
import { closed } from "../rest-schemas.ts";
import { dataOf, shape, TEXT_OR_NULL } from "../route-facts.ts";

export interface InvokeRouteParts {
  access: AccessRules;
  audit: AuditTrail;
  registry: { functions(environment: Environment): readonly { stored: { id: string; name: string } }[] };
  /** `data` is JSON text of an object. */
  invoke(environment: Environment, functionId: string, data: string, idempotencyKey: string | null): Promise<Invoked>;
}

const SCHEMA = {
  summary: "Invoke a function",
  description: "Starts a run of this function only, with an event of the service that contains `data`.",
  querystring: closed({}),
  body: closed({ data: { type: "object", additionalProperties: true } }),
  response: {
    201: dataOf(
      shape({
        runId: {
          ...TEXT_OR_NULL,
          description: "Null: a rule of the function, such as a debounce or a batch, has not started the run yet.",
        },
      }),
    ),
  },
  errors: ["function_not_found"],
} as const;

export function registerInvokeRoute(app: FastifyInstance, { access, audit, registry, invoke }: InvokeRouteParts): void {
  app.post<{ Params: { id: string }; Body: { data?: object } }>(
    "/functions/:id/invoke",
    { config: { about: "environment", byId: true, idempotent: "replayed", keepsBodyText: true }, schema: SCHEMA },
    async (request, reply) => {
      const environment = environmentOf(access, request);
      const { id } = request.params;
      const known = registry.functions(environment).find(({ stored }) => stored.id === id);
      if (!known) throw new RestRefusal("function_not_found", `There is no function ${id} in the environment "${environment.name}".`);
      const invoked = await invoke(environment, id, memberText(request.body, "data") ?? "{}", null);
      const runId = invoked.kind === "held" ? null : invoked.runId;
      const target = { kind: "function", id, name: known.stored.name };
      await audit.note(request, { action: "function.invoked", target, environment: environment.name, details: { runId } });
      reply.status(201);
      return { data: { runId } };
    },
  );
}

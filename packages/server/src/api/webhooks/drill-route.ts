/** REST: drilling a webhook of all branches, in one branch environment. */

import { DRILL_KINDS, type DrillKind } from "@inlet/protocol";
import type { FastifyInstance } from "fastify";
import type { Environment } from "../../store/contract/index.ts";
import type { AuditTrail } from "../access/audit-trail.ts";
import { checkMayUse } from "../access/principal.ts";
import { JOB_DETAILS } from "../jobs/job-schemas.ts";
import { jobDetailsView } from "../jobs/job-view.ts";
import type { JobsPart } from "../jobs/read-job-request.ts";
import { RestRefusal } from "../rest-errors.ts";
import { closed } from "../rest-schemas.ts";
import { dataOf } from "../route-facts.ts";
import { findWebhook, type WebhookDirectory } from "./find-webhook.ts";

export interface DrillRouteParts {
  audit: AuditTrail;
  directory: WebhookDirectory & { environmentNamed(name: string): Environment | undefined };
  jobs: JobsPart;
}

const DRILL = {
  summary: "Drill a webhook",
  description:
    "Sends requests to a webhook of `branch`, for a branch environment: samples, duplicates, samples in another order, retries, forged and malformed requests. The samples come from the providers of the catalogue that use the webhook's signature scheme; without one, its last recorded requests are used. The job belongs to the branch environment; its `report` says for each request what was expected and what happened.",
  querystring: closed({}),
  body: closed(
    {
      environment: { type: "string", minLength: 1, description: "The name of a branch environment." },
      kinds: {
        type: "array",
        minItems: 1,
        uniqueItems: true,
        items: { type: "string", enum: DRILL_KINDS },
        description: "Default: all.",
      },
    },
    ["environment"],
  ),
  response: { 202: dataOf(JOB_DETAILS) },
  errors: ["webhook_not_found", "environment_not_found"],
} as const;

export function registerDrillRoute(app: FastifyInstance, { audit, directory, jobs }: DrillRouteParts): void {
  app.post<{ Params: { id: string }; Body: { environment: string; kinds?: readonly DrillKind[] } }>(
    "/webhooks/:id/drill",
    { config: { about: "item", ingest: true, repair: true, idempotent: "replayed" }, schema: DRILL },
    async (request, reply) => {
      const webhook = findWebhook(directory, request, request.params.id);
      const { environment: name, kinds = DRILL_KINDS } = request.body;
      const environment = directory.environmentNamed(name);
      checkMayUse(request, environment ?? { name, kind: "branch" });
      if (!environment) throw new RestRefusal("environment_not_found", `There is no environment "${name}".`);
      const job = await jobs.create(environment, { kind: "webhooks.drill", filter: { webhook: webhook.id, environment: name, kinds } });
      await audit.note(request, {
        action: "webhook.drilled",
        target: { kind: "webhook", id: webhook.id, name: webhook.name },
        environment: name,
        details: { job: job.id, kinds, requests: job.total },
      });
      reply.code(202);
      return { data: jobDetailsView(job, null) };
    },
  );
}

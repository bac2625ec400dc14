/** REST: compares what a provider lists with what was received, now, and shows the passes that did. */

import { isEventId, type JobId } from "@inlet/protocol";
import type { FastifyInstance } from "fastify";
import type { Job, Reconciliation, StoreViews, Webhook } from "../../store/contract/index.ts";
import type { AuditTrail } from "../access/audit-trail.ts";
import { wrongCursor } from "../cursors.ts";
import { readInstant } from "../instant.ts";
import { JOB } from "../jobs/job-schemas.ts";
import { jobView } from "../jobs/job-view.ts";
import { invalid } from "../rest-errors.ts";
import { closed, PAGE_PARAMETERS } from "../rest-schemas.ts";
import { dataOf, INSTANT, INTEGER, pageOf, shape, TEXT, TEXT_OR_NULL } from "../route-facts.ts";
import { findWebhook, type WebhookDirectory } from "./find-webhook.ts";

export interface ReconcileRange {
  since: number;
  until: number;
}

export interface ReconcileCounts {
  listed: number;
  seen: number;
  recovered: number;
  failed: number;
  /** Why the pass would end before its end. */
  error?: string;
}

export interface ReconcilePart {
  order(webhook: Webhook, range: ReconcileRange): Promise<Job>;
  /** What a pass would find. Stores nothing. */
  preview(webhook: Webhook, range: ReconcileRange): Promise<ReconcileCounts>;
}

export interface ReconcileRoutesParts {
  audit: AuditTrail;
  views: StoreViews;
  directory: WebhookDirectory;
  reconciliations: ReconcilePart;
  now(): number;
}

interface OrderBody {
  since: string | number;
  until?: string | number;
  dryRun?: boolean;
}

type ById = { Params: { id: string } };

const COUNTS = {
  listed: { ...INTEGER, description: "Items that the provider listed." },
  seen: { ...INTEGER, description: "Those whose events were stored already." },
  recovered: { ...INTEGER, description: "Those that had never been received." },
  failed: { ...INTEGER, description: "Those that the transform or a later check refused." },
};
const PASS = shape(
  {
    at: { ...INSTANT, description: "When the pass ended." },
    since: INSTANT,
    until: INSTANT,
    ...COUNTS,
    error: { ...TEXT_OR_NULL, description: "Why the pass stopped early." },
    job: { ...TEXT, description: "The id of its job, whose `errors` name items that failed." },
    scheduled: { type: "boolean", description: "Whether it was scheduled." },
  },
  { title: "Reconciliation" },
);
const PREVIEW = shape({ ...COUNTS, error: TEXT }, { optional: ["error"], title: "ReconciliationPreview" });
const TIME = {
  anyOf: [
    { type: "string", minLength: 1, maxLength: 64 },
    { type: "integer", minimum: 0 },
  ],
};

const ORDER = {
  summary: "Compare what the provider lists with what was received",
  description:
    "Every item that was never received goes through the transform and is stored, marked as reconciled. With `dryRun` nothing is stored: the response says what a pass would store. If another pass of the webhook is in progress, this one waits for it.",
  querystring: closed({}),
  body: closed(
    {
      since: { ...TIME, description: "Start time: ISO 8601 or milliseconds." },
      until: { ...TIME, description: "End time: ISO 8601 or milliseconds; default: now." },
      dryRun: { type: "boolean", description: "Only count." },
    },
    ["since"],
  ),
  response: { 200: dataOf(PREVIEW), 202: dataOf(JOB) },
  errors: ["webhook_not_found"],
} as const;
const LIST = {
  summary: "List the passes of reconciliation of a webhook, newest first",
  querystring: closed(PAGE_PARAMETERS),
  response: { 200: pageOf(PASS) },
  errors: ["webhook_not_found"],
} as const;

export function registerReconcileRoutes(app: FastifyInstance, parts: ReconcileRoutesParts): void {
  const { audit, views, directory, reconciliations, now } = parts;

  app.post<ById & { Body: OrderBody }>(
    "/webhooks/:id/reconcile",
    { config: { about: "item", ingest: true, repair: true, idempotent: "replayed" }, schema: ORDER },
    async (request, reply) => {
      const webhook = findWebhook(directory, request, request.params.id);
      const range = readRange(request.body, now());
      checkMayReconcile(webhook);
      if (request.body.dryRun) return { data: await reconciliations.preview(webhook, range) };
      const job = await reconciliations.order(webhook, range);
      await audit.note(request, {
        action: "webhook.reconciled",
        target: { kind: "webhook", id: webhook.id, name: webhook.name },
        environment: directory.environment(webhook.environmentId)?.name ?? null,
        details: { job: job.id, since: new Date(range.since).toISOString(), until: new Date(range.until).toISOString() },
      });
      reply.code(202);
      return { data: jobView(job) };
    },
  );

  app.get<ById & { Querystring: { limit: number; cursor?: string } }>(
    "/webhooks/:id/reconciliations",
    { config: { about: "item", ingest: true }, schema: LIST },
    async (request) => {
      const { id: webhookId, environmentId } = findWebhook(directory, request, request.params.id);
      const { limit, cursor } = request.query;
      if (cursor !== undefined && !isEventId(cursor)) throw wrongCursor();
      const after = cursor === undefined ? {} : { after: cursor as string as JobId };
      const { passes, next } = await views.reconciliationList({ environmentId, webhookId, limit, ...after });
      return { data: passes.map(passView), page: { next } };
    },
  );
}

function readRange({ since, until }: OrderBody, now: number): ReconcileRange {
  const range = {
    since: readInstant("since", String(since)),
    until: until === undefined ? now : readInstant("until", String(until)),
  };
  if (range.since >= range.until) throw invalid("since", "must be before until");
  return range;
}

function checkMayReconcile({ reconcile, enabled }: Webhook): void {
  if (!reconcile) throw invalid("reconcile", "is not set for this webhook: set it first");
  if (!enabled) throw invalid("enabled", "is false: enable the webhook first");
}

function passView({ at, since, until, listed, seen, recovered, failed, error, jobId, isScheduled }: Reconciliation) {
  const [ended, from, to] = [at, since, until].map((time) => new Date(time).toISOString());
  return { at: ended, since: from, until: to, listed, seen, recovered, failed, error, job: jobId, scheduled: isScheduled };
}

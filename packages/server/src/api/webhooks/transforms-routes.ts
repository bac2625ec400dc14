/** REST: tests of transforms, on a payload, on a recorded request, or on many of them. Nothing is stored. */

import { canonicalHeaders, type EnvironmentId, parseQuery } from "@inlet/protocol";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { StoreViews, Webhook, WebhookRequest, WebhookRequestStore } from "../../store/contract/index.ts";
import { callerRole } from "../access/principal.ts";
import { seesSecrets } from "../access/roles.ts";
import { cutPage, type PageQuery } from "../list-page.ts";
import { RestRefusal } from "../rest-errors.ts";
import { closed, PAGE_PARAMETERS } from "../rest-schemas.ts";
import { dataOf, pageOf } from "../route-facts.ts";
import { type Change, compareTrials, type TrialResult } from "./compare-trials.ts";
import { findRequest, withBody } from "./find-request.ts";
import { findWebhook, type WebhookDirectory } from "./find-webhook.ts";
import { BACKTEST, PROVIDER_TEMPLATE, TRIAL_RESULT } from "./trial-schemas.ts";
import { WEBHOOK_TRIAL_FIELDS } from "./webhook-schemas.ts";

export interface TrialParams {
  transform: string;
  /** The webhook whose handshake and verification run first; absent: neither. */
  webhook?: Webhook;
  /** Whose time it takes; null for a draft of no webhook. */
  environmentId: EnvironmentId | null;
  method?: string;
  query?: string;
  sign?: boolean;
  /** For a recorded request: when it was received, and the result of verification then. */
  receipt?: { at: number; wasVerified: boolean };
  bodyJson?: string;
  bytes: Buffer;
  contentType?: string;
  headers: Readonly<Record<string, string>>;
  queryParams: Readonly<Record<string, readonly string[]>>;
}

/** A provider of the catalogue, with requests to try its transform on. */
export interface ProviderTemplate {
  id: string;
  title: string;
  category: string;
  sends: string;
  setUp: string;
  signatureHeader: string | null;
  verify: object | null;
  secretFrom: string | null;
  handshake: object | null;
  note: string | null;
  retries: string | null;
  timeout: string | null;
  documentation: string | null;
  reconcile: string | null;
  source: Readonly<Record<string, string>>;
  transform: string;
  fixtures: { title: string; headers: Record<string, string>; query: string; body: string }[];
}

export interface TransformsRoutesParts {
  providerTemplates(): Promise<ProviderTemplate[]>;
  store: WebhookRequestStore;
  views: StoreViews;
  directory: WebhookDirectory;
  tryTransform(params: TrialParams): Promise<TrialResult>;
  bodyOf(record: WebhookRequest): Buffer;
  wasVerified(record: WebhookRequest): boolean;
}

interface TrialBody {
  body?: unknown;
  headers?: Record<string, string>;
  queryParams?: Record<string, string | string[]>;
  raw?: string;
  contentType?: string;
  requestId?: string;
}

interface WebhookTrialBody extends TrialBody {
  method?: string;
  sign?: boolean;
}

type ListRequest = { Querystring: PageQuery };
type DraftRequest = { Body: WebhookTrialBody & { transform: string; webhookId?: string } };
type TestRequest = { Params: { id: string }; Body: WebhookTrialBody };
type BacktestRequest = { Params: { id: string }; Body: { transform: string; limit: number } };

const WEBHOOK_ID = { type: "string", description: "Its handshake and verification come before the transform; needed with `requestId`." };

const BACKTEST_REQUESTS_MAX = 100;
const PROVIDERS = {
  summary: "List the catalogue of providers",
  description: "Each with its verification, its handshake, a starter transform and requests to try it on.",
  querystring: closed(PAGE_PARAMETERS),
  response: { 200: pageOf(PROVIDER_TEMPLATE) },
};
const TRIAL = {
  querystring: closed({}),
  response: { 200: dataOf(TRIAL_RESULT) },
  errors: ["webhook_not_found", "webhook_request_not_found", "webhook_request_incomplete"],
} as const;
const TEST_DRAFT = {
  ...TRIAL,
  summary: "Try a transform",
  description: "On a payload or a recorded request, after the handshake and verification of a webhook if one is named. Stores nothing.",
  body: closed({ transform: { type: "string", minLength: 1 }, webhookId: WEBHOOK_ID, ...WEBHOOK_TRIAL_FIELDS }, ["transform"]),
};
const TEST_WEBHOOK = {
  ...TRIAL,
  summary: "Try a webhook's stored transform",
  description: "Also runs its handshake and verification, and explains a wrong signature. Stores nothing.",
  body: closed(WEBHOOK_TRIAL_FIELDS),
};
const BACKTEST_DRAFT = {
  summary: "Compare a draft with the current transform",
  description: "Both run on the newest recorded requests, after the webhook's current handshake and verification. Stores nothing.",
  body: closed(
    {
      transform: { type: "string", minLength: 1, description: "The draft." },
      limit: {
        type: "integer",
        minimum: 1,
        maximum: BACKTEST_REQUESTS_MAX,
        default: 20,
        description: "How many of the newest requests.",
      },
    },
    ["transform"],
  ),
  querystring: closed({}),
  response: { 200: dataOf(BACKTEST) },
  errors: ["webhook_not_found"],
} as const;

export function registerTransformsRoutes(app: FastifyInstance, parts: TransformsRoutesParts): void {
  const config = { about: "item", ingest: true, repair: true } as const;
  app.get<ListRequest>("/transforms/providers", { config, schema: PROVIDERS }, (request) => listProviders(parts, request));
  app.post<DraftRequest>("/transforms/test", { config, schema: TEST_DRAFT }, (request, reply) => testDraft(parts, request, reply));
  app.post<TestRequest>("/webhooks/:id/test", { config, schema: TEST_WEBHOOK }, (request, reply) => testWebhook(parts, request, reply));
  app.post<BacktestRequest>("/webhooks/:id/backtest", { config, schema: BACKTEST_DRAFT }, (request) => backtest(parts, request));
}

async function listProviders(parts: TransformsRoutesParts, request: FastifyRequest<ListRequest>) {
  const templates = await parts.providerTemplates();
  const { items, next } = cutPage([...templates.entries()], ([index]) => ({ rank: -index }), request.query);
  return { data: items.map(([, template]) => template), page: { next } };
}

async function testDraft(parts: TransformsRoutesParts, request: FastifyRequest<DraftRequest>, reply: FastifyReply) {
  const { transform, webhookId, requestId } = request.body;
  reply.type("application/json");
  if (requestId === undefined && webhookId === undefined) return trialView(await parts.tryTransform(given(request.body, transform)));
  return test(parts, request, findWebhook(parts.directory, request, webhookId ?? ""), transform);
}

async function testWebhook(parts: TransformsRoutesParts, request: FastifyRequest<TestRequest>, reply: FastifyReply) {
  const webhook = findWebhook(parts.directory, request, request.params.id);
  reply.type("application/json");
  return test(parts, request, webhook, webhook.transform);
}

/** On the recorded request that the body names, or on the payload that it gives. */
async function test(
  parts: TransformsRoutesParts,
  request: FastifyRequest<{ Body: WebhookTrialBody }>,
  webhook: Webhook,
  transform: string,
) {
  const { requestId } = request.body;
  const params =
    requestId === undefined
      ? asked(parts, request, request.body, webhook, transform)
      : recorded(parts, await findRequest(parts.store, webhook, requestId), webhook, transform);
  return trialView(await parts.tryTransform(params));
}

async function backtest(parts: TransformsRoutesParts, request: FastifyRequest<BacktestRequest>) {
  const webhook = findWebhook(parts.directory, request, request.params.id);
  const { transform, limit } = request.body;
  const { requests } = await parts.views.webhookRequestList({ environmentId: webhook.environmentId, webhookId: webhook.id, limit });
  const results = [];
  for (const record of requests.filter(({ body }) => body !== null)) {
    const before = await parts.tryTransform(recorded(parts, record, webhook, webhook.transform));
    const after = await parts.tryTransform(recorded(parts, record, webhook, transform));
    results.push({ requestId: record.id, receivedAt: new Date(record.receivedAt).toISOString(), ...compareTrials(before, after) });
  }
  const summary: Record<Change, number> = { same: 0, different: 0, now_fails: 0, now_works: 0, still_fails: 0 };
  for (const { change } of results) summary[change]++;
  return { data: { version: webhook.version, summary, requests: results } };
}

function recorded(parts: TransformsRoutesParts, record: WebhookRequest, webhook: Webhook, transform: string): TrialParams {
  const headers = canonicalHeaders(JSON.parse(record.headers));
  const contentEncoding = headers["Content-Encoding"];
  return {
    transform,
    // What was found in a list has no signature, and is not verified.
    ...(!record.isReconciled && { webhook }),
    environmentId: webhook.environmentId,
    method: record.method,
    query: record.query,
    receipt: { at: record.verifiedAt ?? record.receivedAt, wasVerified: parts.wasVerified(record) },
    bytes: parts.bodyOf(withBody(record)),
    ...(record.contentType !== null && { contentType: record.contentType }),
    ...(contentEncoding !== undefined && { contentEncoding }),
    headers,
    queryParams: parseQuery(record.query),
  };
}

function given({ body, raw, contentType, headers = {}, queryParams = {} }: TrialBody, transform: string): TrialParams {
  return {
    transform,
    environmentId: null,
    ...(body !== undefined && { bodyJson: JSON.stringify(body) }),
    bytes: Buffer.from(raw ?? ""),
    ...(contentType !== undefined && { contentType }),
    headers,
    queryParams: Object.fromEntries(Object.entries(queryParams).map(([name, value]) => [name, Array.isArray(value) ? value : [value]])),
  };
}

/** A transform sees the headers of a signed request: whoever may have one signed can send as the provider. */
function asked(
  { directory }: TransformsRoutesParts,
  request: FastifyRequest,
  body: WebhookTrialBody,
  webhook: Webhook,
  transform: string,
): TrialParams {
  const { method = "POST", sign = false } = body;
  const environment = directory.environment(webhook.environmentId);
  if (sign && !seesSecrets(environment ? callerRole(request, environment) : null))
    throw new RestRefusal("role_forbidden", "Signing a request with the webhook's secret needs the role admin or ingest-admin.");
  return { ...given(body, transform), webhook, environmentId: webhook.environmentId, method, sign };
}

/** The event is included as text, so that it is not serialised twice. */
function trialView({ eventJson, handshake, verification, error, logs, durationMs }: TrialResult): string {
  const made = handshake ? `"handshake":${JSON.stringify(handshake)}` : `"event":${eventJson}`;
  const outcome = error ? `"ok":false,"error":${JSON.stringify(error)}` : `"ok":true,${made}`;
  const verified = verification ? `,"verification":${JSON.stringify(verification)}` : "";
  return `{"data":{${outcome}${verified},"logs":${JSON.stringify(logs)},"durationMs":${durationMs}}}`;
}

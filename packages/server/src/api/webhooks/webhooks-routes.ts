/** REST: webhooks, their versions and URLs. */

import type { AcceptList, WebhookId } from "@inlet/protocol";
import type { FastifyInstance, FastifyRequest } from "fastify";
import {
  type Environment,
  NO_SECRETS,
  type StoreViews,
  type WebhookChanges,
  type WebhookStore,
  type WebhookVersion,
} from "../../store/contract/index.ts";
import { checkMayUse, checkMayUseBranches, principalOf } from "../access/principal.ts";
import { type AccessRules, environmentOf } from "../access/rest-access.ts";
import { cutPage, type PageQuery } from "../list-page.ts";
import { invalid, RestRefusal } from "../rest-errors.ts";
import { closed, PAGE_PARAMETERS } from "../rest-schemas.ts";
import { dataOf, pageOf } from "../route-facts.ts";
import { findWebhook } from "./find-webhook.ts";
import { type GivenSettings, readSettings, type SettingsParts } from "./verify-settings.ts";
import { WebhookResponses, type WebhookResponsesParts } from "./webhook-responses.ts";
import { checkLists, WEBHOOK, WEBHOOK_CREATE, WEBHOOK_UPDATE, WEBHOOK_VERSION } from "./webhook-schemas.ts";

export interface WebhooksRoutesParts extends WebhookResponsesParts, SettingsParts {
  access: AccessRules;
  store: WebhookStore;
  views: StoreViews;
  directory: WebhookResponsesParts["directory"] & { environmentNamed(name: string): Environment | undefined };
  issueWebhookToken(): string;
  newId(): string;
  isIpRange(text: string): boolean;
  now: () => number;
}

interface CreateBody extends GivenSettings {
  name: string;
  transform: string;
  environment?: string;
  eventNames?: AcceptList | null;
  ips?: AcceptList | null;
  enabled?: boolean;
}

type UpdateBody = Omit<WebhookChanges, keyof GivenSettings | "secrets" | "handedOver"> & GivenSettings;

/** What a new webhook has before its settings are read. */
const NEW_WEBHOOK = { verify: null, handshake: null, answer: null, mirror: null, reconcile: null, secrets: NO_SECRETS };

type ById = { Params: { id: string } };

const ONE = { querystring: closed({}), response: { 200: dataOf(WEBHOOK) }, errors: ["webhook_not_found"] } as const;
const config = { about: "item", ingest: true } as const;

export function registerWebhooksRoutes(app: FastifyInstance, parts: WebhooksRoutesParts): void {
  const responses = new WebhookResponses(parts);
  registerListAndGet(app, parts, responses);
  registerCreate(app, parts, responses);
  registerUpdate(app, parts, responses);
  registerDeleteAndRotate(app, parts, responses);
  registerVersions(app, parts);
}

function registerListAndGet(app: FastifyInstance, { access, directory }: WebhooksRoutesParts, responses: WebhookResponses): void {
  const list = { summary: "List webhooks, newest first", querystring: closed(PAGE_PARAMETERS), response: { 200: pageOf(WEBHOOK) } };
  app.get<{ Querystring: { limit: number; cursor?: string } }>(
    "/webhooks",
    { config: { about: "environment", ingest: true }, schema: list },
    async (request) => {
      const environment = environmentOf(access, request);
      const here = directory.webhooks().filter(({ environmentId }) => environmentId === environment.id);
      const { items, next } = cutPage(here, ({ createdAt, id }) => ({ rank: createdAt, id }), request.query);
      return { data: items.map((webhook) => responses.view(request, webhook)), page: { next } };
    },
  );
  app.get<ById>("/webhooks/:id", { config, schema: { ...ONE, summary: "Get a webhook" } }, async (request) => ({
    data: responses.view(request, findWebhook(directory, request, request.params.id)),
  }));
}

function registerCreate(app: FastifyInstance, parts: WebhooksRoutesParts, responses: WebhookResponses): void {
  const create = { summary: "Create a webhook", body: WEBHOOK_CREATE, querystring: closed({}), response: { 201: dataOf(WEBHOOK) } };
  app.post<{ Body: CreateBody }>(
    "/webhooks",
    { config: { about: "item", ingest: true, idempotent: "replayed" }, schema: create },
    async (request, reply) => {
      const { name, transform, eventNames = null, ips = null, enabled = true } = request.body;
      const environment = chosenEnvironment(parts, request, request.body.environment);
      checkLists(request.body, parts.isIpRange);
      await refuseBadTransform(parts, transform);
      const settings = await readSettings(parts, request.body, NEW_WEBHOOK, { isNew: true });
      refuseMirror(request, environment, settings.mirror);
      const created = await parts.store.webhookInsert({
        id: `wh_${parts.newId()}` as WebhookId,
        environmentId: environment.id,
        name,
        token: parts.issueWebhookToken(),
        transform,
        eventNames,
        ips,
        enabled,
        createdAt: parts.now(),
        author: principalOf(request).name,
        ...NEW_WEBHOOK,
        ...settings,
        secrets: { ...NO_SECRETS, ...settings.secrets },
      });
      reply.code(201);
      return responses.changed(request, "created", created);
    },
  );
}

function registerUpdate(app: FastifyInstance, parts: WebhooksRoutesParts, responses: WebhookResponses): void {
  const { store, directory } = parts;
  const update = {
    ...ONE,
    summary: "Change a webhook",
    description: "Updates the given fields. A new transform becomes the current version.",
    body: WEBHOOK_UPDATE,
    errors: ["webhook_not_found", "webhook_version_not_found"],
  } as const;
  app.put<ById & { Body: UpdateBody }>("/webhooks/:id", { config, schema: update }, async (request) => {
    const webhook = findWebhook(directory, request, request.params.id);
    const { verify: _, handshake: __, answer: ___, mirror: ____, reconcile: _____, ...given } = request.body;
    if (given.version !== undefined && given.transform !== undefined) throw invalid("version", "cannot be given together with transform");
    checkLists(given, parts.isIpRange);
    await refuseBadTransform(parts, given.transform);
    const settings = await readSettings(parts, request.body, webhook, { isNew: false });
    refuseMirror(request, directory.environment(webhook.environmentId), settings.mirror === undefined ? webhook.mirror : settings.mirror);
    const updated = await store.webhookUpdate({
      environmentId: webhook.environmentId,
      id: webhook.id,
      updatedAt: parts.now(),
      changes: { ...given, ...settings },
      author: principalOf(request).name,
    });
    if (!updated && given.version !== undefined) {
      throw new RestRefusal("webhook_version_not_found", `The webhook has no version ${given.version}.`);
    }
    return responses.changed(request, "updated", updated, Object.keys(request.body));
  });
}

function registerDeleteAndRotate(app: FastifyInstance, parts: WebhooksRoutesParts, responses: WebhookResponses): void {
  const { store, directory } = parts;
  app.delete<ById>("/webhooks/:id", { config, schema: { ...ONE, summary: "Delete a webhook" } }, async (request) => {
    const { environmentId, id } = findWebhook(directory, request, request.params.id);
    return responses.changed(request, "deleted", await store.webhookDelete({ environmentId, id, deletedAt: parts.now() }));
  });
  const rotate = { ...ONE, summary: "Give a webhook a new URL", description: "The old URL stops working immediately." };
  app.post<ById>("/webhooks/:id/rotate", { config, schema: rotate }, async (request) => {
    const { environmentId, id } = findWebhook(directory, request, request.params.id);
    const rotation = { environmentId, id, token: parts.issueWebhookToken(), rotatedAt: parts.now() };
    return responses.changed(request, "rotated", await store.webhookRotate(rotation));
  });
}

function registerVersions(app: FastifyInstance, { views, directory }: WebhooksRoutesParts): void {
  const versions = {
    summary: "List the versions of a webhook's transform, newest first",
    querystring: closed(PAGE_PARAMETERS),
    response: { 200: pageOf(WEBHOOK_VERSION) },
    errors: ["webhook_not_found"],
  } as const;
  app.get<ById & { Querystring: PageQuery }>("/webhooks/:id/versions", { config, schema: versions }, async (request) => {
    const webhook = findWebhook(directory, request, request.params.id);
    const { items, next } = cutPage(await views.webhookVersionList(webhook), ({ version }) => ({ rank: version }), request.query);
    const view = ({ version, transform, createdAt, author }: WebhookVersion) => ({
      version,
      transform,
      createdAt: new Date(createdAt).toISOString(),
      author,
      current: version === webhook.version,
    });
    return { data: items.map(view), page: { next } };
  });
}

async function refuseBadTransform({ checkTransform }: WebhooksRoutesParts, source: string | undefined): Promise<void> {
  const fault = source === undefined ? null : await checkTransform(source);
  if (!fault) return;
  throw new RestRefusal("request_invalid", `The transform cannot be used: ${fault.message}.`, [{ field: "transform", ...fault }]);
}

/** A webhook of all branches delivers to the branch that each request names. A mirror writes to other environments than its own, whatever else of the webhook is changed. */
function refuseMirror(request: FastifyRequest, environment: Environment | undefined, mirror: WebhookChanges["mirror"]): void {
  if (mirror) checkMayUseBranches(request, mirror.to);
  if (mirror && environment?.kind === "shared") throw invalid("mirror", "is for webhooks of one environment, not of branch");
}

/** The field of the body takes precedence over the header. A branch environment has no webhooks of its own. */
function chosenEnvironment({ access, directory }: WebhooksRoutesParts, request: FastifyRequest, name: string | undefined): Environment {
  const environment = name === undefined ? environmentOf(access, request) : directory.environmentNamed(name);
  checkMayUse(request, environment ?? { name: name ?? "", kind: "branch" });
  if (!environment) throw new RestRefusal("environment_not_found", `There is no environment "${name}".`);
  if (environment.kind === "branch") {
    throw invalid("environment", `must be "branch": all branch environments share their webhooks`);
  }
  return environment;
}

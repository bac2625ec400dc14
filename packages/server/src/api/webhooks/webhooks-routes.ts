/** REST: webhooks, their versions and URLs. */

import type { AcceptList, WebhookId } from "@inlet/protocol";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { type Environment, NO_SECRETS, type Webhook, type WebhookChanges, type WebhookStore } from "../../store/contract/index.ts";
import type { AuditTrail } from "../access/audit-trail.ts";
import { checkMayUse, checkMayUseBranches, principalOf } from "../access/principal.ts";
import { type AccessRules, environmentOf } from "../access/rest-access.ts";
import { seesSecrets } from "../access/roles.ts";
import { cutPage, type PageQuery } from "../list-page.ts";
import { type OwnAddressRules, ownAddress } from "../own-address.ts";
import { invalid, RestRefusal } from "../rest-errors.ts";
import { closed, PAGE_PARAMETERS } from "../rest-schemas.ts";
import { dataOf, pageOf } from "../route-facts.ts";
import { type GivenSettings, readSettings, type SettingsParts } from "./verify-settings.ts";
import { checkLists, WEBHOOK, WEBHOOK_CREATE, WEBHOOK_UPDATE, WEBHOOK_VERSION, webhookView } from "./webhook-schemas.ts";

export interface WebhookDirectory {
  webhooks(): Webhook[];
  environment(id: Webhook["environmentId"]): Environment | undefined;
}

export interface WebhooksRoutesParts extends OwnAddressRules, SettingsParts {
  audit: AuditTrail;
  access: AccessRules;
  store: WebhookStore;
  directory: WebhookDirectory & {
    environmentNamed(name: string): Environment | undefined;
    refresh(): Promise<void>;
  };
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

const SHOWN_CHARACTERS = 8;
/** What a new webhook has before its settings are read. */
const NEW_WEBHOOK = { verify: null, handshake: null, answer: null, mirror: null, secrets: NO_SECRETS };

type ById = { Params: { id: string } };

const ONE = { querystring: closed({}), response: { 200: dataOf(WEBHOOK) }, errors: ["webhook_not_found"] } as const;
const config = { about: "item", ingest: true } as const;

export function registerWebhooksRoutes(app: FastifyInstance, parts: WebhooksRoutesParts): void {
  const { store, directory } = parts;
  const view = (request: FastifyRequest, webhook: Webhook) => {
    const environment = directory.environment(webhook.environmentId)?.name ?? "";
    const baseUrl = ownAddress(parts, request);
    // Anyone who knows the URL can send: a read-only key must not see it.
    const url = `${baseUrl}/e/${seesSecrets(principalOf(request).role) ? webhook.token : `${webhook.token.slice(0, SHOWN_CHARACTERS)}…`}`;
    return webhookView(webhook, environment, url);
  };
  const note = (request: FastifyRequest, action: string, { id, name, version, environmentId }: Webhook, fields?: string[]) =>
    parts.audit.note(request, {
      action: `webhook.${action}`,
      target: { kind: "webhook", id, name },
      environment: directory.environment(environmentId)?.name ?? null,
      details: { version, ...(fields && { fields }) },
    });
  const changed = async (request: FastifyRequest, action: string, webhook: Webhook | null, fields?: string[]) => {
    if (!webhook) throw webhookNotFound((request.params as { id: string }).id);
    await directory.refresh();
    await note(request, action, webhook, fields);
    return { data: view(request, webhook) };
  };
  const refuseBadTransform = async (source: string | undefined) => {
    const fault = source === undefined ? null : await parts.checkTransform(source);
    if (!fault) return;
    throw new RestRefusal("request_invalid", `The transform cannot be used: ${fault.message}.`, [{ field: "transform", ...fault }]);
  };

  app.get<{ Querystring: { limit: number; cursor?: string } }>(
    "/webhooks",
    {
      config: { ingest: true },
      schema: { summary: "List webhooks, newest first", querystring: closed(PAGE_PARAMETERS), response: { 200: pageOf(WEBHOOK) } },
    },
    async (request) => {
      const environment = environmentOf(parts.access, request);
      const here = directory.webhooks().filter(({ environmentId }) => environmentId === environment.id);
      const { items, next } = cutPage(here, ({ createdAt, id }) => ({ rank: createdAt, id }), request.query);
      return { data: items.map((webhook) => view(request, webhook)), page: { next } };
    },
  );

  const create = { summary: "Create a webhook", body: WEBHOOK_CREATE, querystring: closed({}), response: { 201: dataOf(WEBHOOK) } };
  app.post<{ Body: CreateBody }>(
    "/webhooks",
    { config: { ingest: true, idempotent: "replayed" }, schema: create },
    async (request, reply) => {
      const { name, transform, eventNames = null, ips = null, enabled = true } = request.body;
      const environment = chosenEnvironment(parts, request, request.body.environment);
      checkLists(request.body, parts.isIpRange);
      await refuseBadTransform(transform);
      const settings = await readSettings(parts, request.body, NEW_WEBHOOK, { isNew: true });
      refuseMirror(request, environment, settings.mirror);
      const id = `wh_${parts.newId()}` as WebhookId;
      const token = parts.issueWebhookToken();
      const createdAt = parts.now();
      const created = await store.webhookInsert({
        id,
        environmentId: environment.id,
        name,
        token,
        transform,
        eventNames,
        ips,
        enabled,
        createdAt,
        ...NEW_WEBHOOK,
        ...settings,
        secrets: { ...NO_SECRETS, ...settings.secrets },
      });
      await directory.refresh();
      await note(request, "created", created);
      reply.code(201);
      return { data: view(request, created) };
    },
  );

  app.get<ById>("/webhooks/:id", { config, schema: { ...ONE, summary: "Get a webhook" } }, async (request) => ({
    data: view(request, findWebhook(directory, request, request.params.id)),
  }));

  app.put<ById & { Body: UpdateBody }>(
    "/webhooks/:id",
    {
      config,
      schema: {
        ...ONE,
        summary: "Change a webhook",
        description: "Updates the given fields. A new transform becomes the current version.",
        body: WEBHOOK_UPDATE,
        errors: ["webhook_not_found", "webhook_version_not_found"],
      },
    },
    async (request) => {
      const webhook = findWebhook(directory, request, request.params.id);
      const { verify: _, handshake: __, answer: ___, mirror: ____, ...changes } = request.body;
      if (changes.version !== undefined && changes.transform !== undefined)
        throw invalid("version", "cannot be given together with transform");
      checkLists(changes, parts.isIpRange);
      await refuseBadTransform(changes.transform);
      const settings = await readSettings(parts, request.body, webhook, { isNew: false });
      refuseMirror(request, directory.environment(webhook.environmentId), settings.mirror === undefined ? webhook.mirror : settings.mirror);
      const updated = await store.webhookUpdate({
        ...{ environmentId: webhook.environmentId, id: webhook.id, updatedAt: parts.now() },
        changes: { ...changes, ...settings },
      });
      if (!updated && changes.version !== undefined) {
        throw new RestRefusal("webhook_version_not_found", `The webhook has no version ${changes.version}.`);
      }
      return changed(request, "updated", updated, Object.keys(request.body));
    },
  );

  app.delete<ById>("/webhooks/:id", { config, schema: { ...ONE, summary: "Delete a webhook" } }, async (request) => {
    const { environmentId, id } = findWebhook(directory, request, request.params.id);
    return changed(request, "deleted", await store.webhookDelete({ environmentId, id, deletedAt: parts.now() }));
  });

  const rotate = { ...ONE, summary: "Give a webhook a new URL", description: "The old URL stops working immediately." };
  app.post<ById>("/webhooks/:id/rotate", { config, schema: rotate }, async (request) => {
    const { environmentId, id } = findWebhook(directory, request, request.params.id);
    const rotation = { environmentId, id, token: parts.issueWebhookToken(), rotatedAt: parts.now() };
    return changed(request, "rotated", await store.webhookRotate(rotation));
  });

  const versions = {
    summary: "List the versions of a webhook's transform, newest first",
    querystring: closed(PAGE_PARAMETERS),
    response: { 200: pageOf(WEBHOOK_VERSION) },
    errors: ["webhook_not_found"],
  } as const;
  app.get<ById & { Querystring: PageQuery }>("/webhooks/:id/versions", { config, schema: versions }, async (request) => {
    const webhook = findWebhook(directory, request, request.params.id);
    const { items, next } = cutPage(await store.webhookVersionList(webhook), ({ version }) => ({ rank: version }), request.query);
    return {
      data: items.map(({ version, transform, createdAt }) => ({
        version,
        transform,
        createdAt: new Date(createdAt).toISOString(),
        current: version === webhook.version,
      })),
      page: { next },
    };
  });
}

/** A webhook of all branches delivers to the branch that each request names. A mirror writes to other environments than its own, whatever else of the webhook is changed. */
function refuseMirror(request: FastifyRequest, environment: Environment | undefined, mirror: WebhookChanges["mirror"]): void {
  if (mirror) checkMayUseBranches(request, mirror.to);
  if (mirror && environment?.kind === "shared") throw invalid("mirror", "is for webhooks of one environment, not of branch");
}

/** By id alone: ids are unique across environments. */
export function findWebhook(directory: WebhookDirectory, request: FastifyRequest, id: string): Webhook {
  const webhook = directory.webhooks().find((candidate) => candidate.id === id);
  const environment = webhook && directory.environment(webhook.environmentId);
  if (!webhook || !environment) throw webhookNotFound(id);
  checkMayUse(request, environment);
  return webhook;
}

function webhookNotFound(id: string): RestRefusal {
  return new RestRefusal("webhook_not_found", `There is no webhook ${id}.`);
}

/** The field of the body takes precedence over the header. A branch environment has no webhooks of its own. */
function chosenEnvironment({ access, directory }: WebhooksRoutesParts, request: FastifyRequest, name: string | undefined): Environment {
  const environment = name === undefined ? environmentOf(access, request) : directory.environmentNamed(name);
  if (!environment) throw new RestRefusal("environment_not_found", `There is no environment "${name}".`);
  checkMayUse(request, environment);
  if (environment.kind === "branch") {
    throw invalid("environment", `must be "branch": all branch environments share their webhooks`);
  }
  return environment;
}

/** REST: how the last requests of each webhook ended, without the requests themselves. */

import type { WebhookId } from "@inlet/protocol";
import type { FastifyInstance } from "fastify";
import type { StoreViews } from "../../store/contract/index.ts";
import { type AccessRules, environmentOf } from "../access/rest-access.ts";
import { cutPage, type PageQuery } from "../list-page.ts";
import { closed, PAGE_PARAMETERS } from "../rest-schemas.ts";
import { INSTANT_OR_NULL, listOf, pageOf, shape, TEXT } from "../route-facts.ts";
import type { WebhookDirectory } from "./find-webhook.ts";

export interface WebhookHealthRouteParts {
  access: AccessRules;
  views: Pick<StoreViews, "webhookRequestOutcomes">;
  directory: WebhookDirectory;
}

const OUTCOMES_MAX = 20;

const HEALTH = shape(
  {
    id: { ...TEXT, description: "The id of the webhook." },
    lastRequestAt: INSTANT_OR_NULL,
    outcomes: {
      ...listOf(TEXT),
      description: `The outcomes of the last ${OUTCOMES_MAX} requests, newest first: \`accepted\`, \`handshake\`, or the code of an error.`,
    },
  },
  { title: "WebhookHealth" },
);

const SCHEMA = {
  summary: "List how the last requests of webhooks ended",
  description: "In the order of the list of webhooks.",
  querystring: closed(PAGE_PARAMETERS),
  response: { 200: pageOf(HEALTH) },
};

export function registerWebhookHealthRoute(app: FastifyInstance, { access, views, directory }: WebhookHealthRouteParts): void {
  app.get<{ Querystring: PageQuery }>(
    "/webhooks/health",
    { config: { about: "environment", ingest: true }, schema: SCHEMA },
    async (request) => {
      const { id: environmentId } = environmentOf(access, request);
      const here = directory.webhooks().filter((webhook) => webhook.environmentId === environmentId);
      const { items, next } = cutPage(here, ({ createdAt, id }) => ({ rank: createdAt, id }), request.query);
      const webhookIds = items.map(({ id }) => id);
      const found = await views.webhookRequestOutcomes({ environmentId, webhookIds, limit: OUTCOMES_MAX });
      const byWebhook = Map.groupBy(found, ({ webhookId }) => webhookId);
      const health = (id: WebhookId) => {
        const requests = byWebhook.get(id) ?? [];
        const last = requests[0] ? new Date(requests[0].receivedAt).toISOString() : null;
        return { id, lastRequestAt: last, outcomes: requests.map(({ outcome }) => outcome) };
      };
      return { data: webhookIds.map(health), page: { next } };
    },
  );
}

/** The webhook that a request names. */

import type { FastifyRequest } from "fastify";
import type { Environment, Webhook } from "../../store/contract/index.ts";
import { checkMayFind } from "../access/principal.ts";
import { RestRefusal } from "../rest-errors.ts";

export interface WebhookDirectory {
  webhooks(): Webhook[];
  environment(id: Webhook["environmentId"]): Environment | undefined;
}

/** By id alone: ids are unique across environments. */
export function findWebhook(directory: WebhookDirectory, request: FastifyRequest, id: string): Webhook {
  const webhook = directory.webhooks().find((candidate) => candidate.id === id);
  const environment = webhook && directory.environment(webhook.environmentId);
  checkMayFind(request, environment, () => webhookNotFound(id));
  return webhook as Webhook;
}

export function webhookNotFound(id: string): RestRefusal {
  return new RestRefusal("webhook_not_found", `There is no webhook ${id}.`);
}

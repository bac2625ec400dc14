/** What REST shows of webhooks, and what follows a change of one. */

import type { FastifyRequest } from "fastify";
import type { Webhook } from "../../store/contract/index.ts";
import type { AuditTrail } from "../access/audit-trail.ts";
import { callerRole } from "../access/principal.ts";
import { seesSecrets } from "../access/roles.ts";
import { type OwnAddressRules, ownAddress } from "../own-address.ts";
import { type WebhookDirectory, webhookNotFound } from "./find-webhook.ts";
import { webhookView } from "./webhook-schemas.ts";

const SHOWN_CHARACTERS = 8;

export interface WebhookResponsesParts extends OwnAddressRules {
  audit: AuditTrail;
  directory: WebhookDirectory & { refresh(): Promise<void> };
}

/** How a response shows a webhook. After a change, the directory is read again and the audit log records the change. */
export class WebhookResponses {
  readonly #parts: WebhookResponsesParts;

  constructor(parts: WebhookResponsesParts) {
    this.#parts = parts;
  }

  view(request: FastifyRequest, webhook: Webhook) {
    const environment = this.#parts.directory.environment(webhook.environmentId);
    const role = environment ? callerRole(request, environment) : null;
    const baseUrl = ownAddress(this.#parts, request);
    // Anyone who knows the URL can send: a read-only key must not see it.
    const token = seesSecrets(role) ? webhook.token : `${webhook.token.slice(0, SHOWN_CHARACTERS)}…`;
    return webhookView(webhook, environment?.name ?? "", `${baseUrl}/e/${token}`);
  }

  /** `fields`: the fields that the request set. Refuses the request if the webhook does not exist. */
  async changed(request: FastifyRequest, action: string, webhook: Webhook | null, fields?: string[]) {
    if (!webhook) throw webhookNotFound((request.params as { id: string }).id);
    await this.#parts.directory.refresh();
    const { id, name, version } = webhook;
    await this.#parts.audit.note(request, {
      action: `webhook.${action}`,
      target: { kind: "webhook", id, name },
      environment: this.#environmentName(webhook),
      details: { version, ...(fields && { fields }) },
    });
    return { data: this.view(request, webhook) };
  }

  #environmentName({ environmentId }: Webhook): string | null {
    return this.#parts.directory.environment(environmentId)?.name ?? null;
  }
}

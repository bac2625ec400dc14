/** The REST API calls for webhooks as code. */

import { type Connection, createRestClient } from "../rest/rest-client.ts";
import type { ServerWebhook } from "./compare/server-webhook.ts";

export type WebhookFields = Pick<ServerWebhook, "name" | "transform" | "eventNames" | "ips" | "enabled"> &
  Record<"verify" | "handshake" | "answer" | "mirror" | "reconcile", unknown>;

/** An environment of null is the server's default. */
export interface WebhooksClient {
  list(environment: string | null): Promise<ServerWebhook[]>;
  create(environment: string | null, fields: WebhookFields): Promise<ServerWebhook>;
  change(webhook: ServerWebhook, fields: Partial<WebhookFields>): Promise<ServerWebhook>;
  remove(webhook: ServerWebhook): Promise<void>;
}

export function createWebhooksClient({ url, apiKey }: Pick<Connection, "url" | "apiKey">): WebhooksClient {
  const rest = createRestClient({ url, apiKey, env: null });
  const pathOf = ({ id }: ServerWebhook) => `/webhooks/${encodeURIComponent(id)}`;
  return {
    list: async (env) => (await rest.list<ServerWebhook>({ path: "/webhooks", env })).items,
    create: (env, body) => rest.data({ method: "POST", path: "/webhooks", env, body }),
    change: (webhook, body) => rest.data({ method: "PUT", path: pathOf(webhook), env: webhook.environment, body }),
    remove: async (webhook) => void (await rest.call({ method: "DELETE", path: pathOf(webhook), env: webhook.environment })),
  };
}

/** A row of the webhooks table, with its token and transform, as the contract's Webhook. */

import type { EnvironmentId, WebhookId } from "@inlet/protocol";
import type { Webhook } from "../contract/index.ts";
import { parseList } from "./accept-lists.ts";

export interface WebhookRow {
  webhook_id: string;
  environment_id: number;
  name: string;
  token: string;
  transform: string;
  version: number;
  event_names: string | null;
  ips: string | null;
  enabled: number;
  created_at: number;
  updated_at: number;
  deleted_at: number | null;
}

export function toWebhook(row: WebhookRow): Webhook {
  return {
    id: row.webhook_id as WebhookId,
    environmentId: row.environment_id as EnvironmentId,
    name: row.name,
    token: row.token,
    transform: row.transform,
    version: row.version,
    eventNames: parseList(row.event_names),
    ips: parseList(row.ips),
    enabled: row.enabled === 1,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
    deletedAt: row.deleted_at,
  };
}

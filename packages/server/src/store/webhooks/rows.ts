/** Converts a row of the webhooks table, with its token and transform, to the contract's Webhook. */

import type { EnvironmentId, WebhookId } from "@inlet/protocol";
import { NO_SECRETS, type Webhook, type WebhookSecrets, type WebhookVersion } from "../contract/index.ts";
import { ownerOf } from "../secrets/rows/sealed-rows.ts";
import type { SecretBox } from "../secrets/rows/secret-box.ts";
import { listText, parseList } from "../shared/accept-lists.ts";

export interface WebhookRow {
  webhook_id: string;
  environment_id: number;
  name: string;
  token: string;
  transform: string;
  version: number;
  event_names: string | null;
  ips: string | null;
  verify: string | null;
  handshake: string | null;
  answer: string | null;
  mirror: string | null;
  reconcile: string | null;
  secrets: string | null;
  enabled: number;
  created_at: number;
  updated_at: number;
  deleted_at: number | null;
}

/** The columns other than its name, in the order of WEBHOOK_COLUMNS. */
export function webhookColumns(box: SecretBox, webhook: Omit<Webhook, "version" | "updatedAt" | "deletedAt">) {
  const { id, eventNames, ips, verify, handshake, answer, mirror, reconcile, secrets, enabled } = webhook;
  const settings = [verify, handshake, answer, mirror, reconcile].map((value) => value && JSON.stringify(value));
  return [listText(eventNames), listText(ips), ...settings, sealedSecrets(box, id, secrets), Number(enabled)] as const;
}

export const WEBHOOK_COLUMNS = [
  "event_names",
  "ips",
  "verify",
  "handshake",
  "answer",
  "mirror",
  "reconcile",
  "secrets",
  "enabled",
] as const;

export function toWebhook(box: SecretBox, row: WebhookRow): Webhook {
  return {
    id: row.webhook_id as WebhookId,
    environmentId: row.environment_id as EnvironmentId,
    name: row.name,
    token: row.token,
    transform: row.transform,
    version: row.version,
    eventNames: parseList(row.event_names),
    ips: parseList(row.ips),
    verify: parsed(row.verify),
    handshake: parsed(row.handshake),
    answer: parsed(row.answer),
    mirror: parsed(row.mirror),
    reconcile: parsed(row.reconcile),
    secrets: openedSecrets(box, row),
    enabled: row.enabled === 1,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
    deletedAt: row.deleted_at,
  };
}

function sealedSecrets(box: SecretBox, id: string, secrets: WebhookSecrets): string | null {
  const { verify, handshake, isHandedOver, reconcile } = secrets;
  const isEmpty = verify.length + reconcile.length === 0 && handshake === null && !isHandedOver;
  return isEmpty ? null : box.seal(JSON.stringify(secrets), ownerOf("webhooks", id));
}

/** Secrets that another node encrypted with a key unknown to this node are omitted: nothing can be verified with them. */
function openedSecrets(box: SecretBox, { webhook_id, secrets }: WebhookRow): WebhookSecrets {
  const text = secrets === null ? null : box.open(secrets, ownerOf("webhooks", webhook_id));
  return text === null ? NO_SECRETS : { ...NO_SECRETS, ...JSON.parse(text) };
}

function parsed<Value>(text: string | null): Value | null {
  return text === null ? null : JSON.parse(text);
}

export interface VersionRow {
  version: number;
  transform: string;
  created_at: number;
  author: string | null;
}

export function toVersion({ version, transform, created_at, author }: VersionRow): WebhookVersion {
  return { version, transform, createdAt: created_at, author };
}

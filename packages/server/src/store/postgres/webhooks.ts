/** Webhooks in PostgreSQL. Few rows, read whole; the service finds a webhook by its token in memory. */

import type { WebhookId } from "@inlet/protocol";
import type { PoolClient } from "pg";
import {
  fromStoreText,
  toStoreText,
  type Webhook,
  type WebhookChanges,
  type WebhookStore,
  type WebhookVersion,
} from "../contract/index.ts";
import { listText } from "../rows/accept-lists.ts";
import { toWebhook, type WebhookRow } from "../rows/webhook-rows.ts";
import type { Announced } from "./announce.ts";
import type { Database } from "./database.ts";

const SELECT = `
  SELECT webhooks.*, webhook_versions.transform, webhook_tokens.token FROM webhooks
  JOIN webhook_versions USING (webhook_id, version)
  JOIN webhook_tokens ON webhook_tokens.webhook_id = webhooks.webhook_id AND webhook_tokens.retired_at IS NULL`;
const VERSIONS = "SELECT version, transform, created_at FROM webhook_versions WHERE webhook_id = $1 ORDER BY version DESC";
const INSERT_VERSION = "INSERT INTO webhook_versions (webhook_id, version, transform, created_at) VALUES ($1, $2, $3, $4)";
const INSERT_TOKEN = "INSERT INTO webhook_tokens (token, webhook_id, created_at) VALUES ($1, $2, $3)";

export function webhookStore(database: Database, announced: Announced): WebhookStore {
  return {
    webhookList: async () => (await database.query<WebhookRow>(`${SELECT} ORDER BY webhook_no`)).map(readWebhook),
    async webhookRetiredTokenList() {
      const rows = await database.query<{ token: string; webhook_id: string }>(
        "SELECT token, webhook_id FROM webhook_tokens WHERE retired_at IS NOT NULL",
      );
      return rows.map(({ token, webhook_id }) => ({ token, webhookId: webhook_id as WebhookId }));
    },
    webhookInsert: (webhook) => announced("directory", (client) => insert(client, webhook)),
    webhookUpdate: ({ id, changes, updatedAt }) => announced("directory", (client) => change(client, id, changes, updatedAt)),
    webhookRotate: ({ id, token, rotatedAt }) =>
      announced("directory", async (client) => {
        if (!(await find(client, id))) return null;
        await client.query("UPDATE webhook_tokens SET retired_at = $1 WHERE webhook_id = $2 AND retired_at IS NULL", [rotatedAt, id]);
        await client.query(INSERT_TOKEN, [token, id, rotatedAt]);
        return change(client, id, {}, rotatedAt);
      }),
    webhookDelete: ({ id, deletedAt }) =>
      announced("directory", async (client) => {
        const webhook = await find(client, id);
        if (webhook) await client.query("UPDATE webhooks SET deleted_at = $1, updated_at = $1 WHERE webhook_id = $2", [deletedAt, id]);
        return webhook && { ...webhook, deletedAt, updatedAt: deletedAt };
      }),
    webhookVersionList: async ({ id }) => (await database.query<VersionRow>(VERSIONS, [id])).map(toVersion),
  };
}

/** Locks the webhook, so that two nodes change it one after the other. */
async function find(client: PoolClient, id: WebhookId): Promise<Webhook | null> {
  await client.query("SELECT 1 FROM webhooks WHERE webhook_id = $1 FOR UPDATE", [id]);
  const { rows } = await client.query<WebhookRow>(`${SELECT} WHERE webhooks.webhook_id = $1 AND deleted_at IS NULL`, [id]);
  return rows[0] ? readWebhook(rows[0]) : null;
}

async function insert(client: PoolClient, webhook: Parameters<WebhookStore["webhookInsert"]>[0]): Promise<Webhook> {
  const { id, environmentId, name, eventNames, ips, enabled, createdAt } = webhook;
  await client.query(
    `INSERT INTO webhooks (webhook_id, environment_id, name, version, event_names, ips, enabled, created_at, updated_at)
     VALUES ($1, $2, $3, 1, $4, $5, $6, $7, $7)`,
    [id, environmentId, toStoreText(name), listText(eventNames), listText(ips), Number(enabled), createdAt],
  );
  await client.query(INSERT_TOKEN, [webhook.token, id, createdAt]);
  await client.query(INSERT_VERSION, [id, 1, toStoreText(webhook.transform), createdAt]);
  return (await find(client, id)) as Webhook;
}

async function change(client: PoolClient, id: WebhookId, changes: WebhookChanges, now: number): Promise<Webhook | null> {
  const webhook = await find(client, id);
  if (!webhook) return null;
  const version = await versionInForce(client, webhook, changes, now);
  if (version === null) return null;
  const { name, eventNames, ips, enabled } = { ...webhook, ...changes };
  await client.query(
    "UPDATE webhooks SET name = $1, version = $2, event_names = $3, ips = $4, enabled = $5, updated_at = $6 WHERE webhook_id = $7",
    [...[toStoreText(name), version, listText(eventNames), listText(ips), Number(enabled), now, id]],
  );
  return find(client, id);
}

/** The version that shall be in force, made first if its text is new; null when an older one is asked for that never was. */
async function versionInForce(
  client: PoolClient,
  webhook: Webhook,
  { transform, version }: WebhookChanges,
  now: number,
): Promise<number | null> {
  const known = (await client.query<VersionRow>(VERSIONS, [webhook.id])).rows.map(toVersion);
  if (version !== undefined && !known.some((one) => one.version === version)) return null;
  if (transform === undefined) return version ?? webhook.version;
  const current = known.find((one) => one.version === (version ?? webhook.version));
  if (current?.transform === transform) return current.version;
  const next = (known[0]?.version ?? 0) + 1;
  await client.query(INSERT_VERSION, [webhook.id, next, toStoreText(transform), now]);
  return next;
}

interface VersionRow {
  version: number;
  transform: string;
  created_at: number;
}

function toVersion({ version, transform, created_at }: VersionRow): WebhookVersion {
  return { version, transform: fromStoreText(transform), createdAt: created_at };
}

function readWebhook(row: WebhookRow): Webhook {
  return toWebhook({ ...row, name: fromStoreText(row.name), transform: fromStoreText(row.transform) });
}

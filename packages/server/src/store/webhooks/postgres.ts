/** Webhooks in PostgreSQL. Few rows, read whole; the service finds a webhook by its token in memory. */

import type { WebhookId } from "@inlet/protocol";
import type { PoolClient } from "pg";
import type { Webhook, WebhookChanges, WebhookKey, WebhookStore } from "../contract/index.ts";
import type { Database } from "../postgres/database.ts";
import type { Announced } from "../postgres/nodes/announce.ts";
import type { SecretBox } from "../secrets/rows/secret-box.ts";
import { secretsAfter, versionInForce } from "./policy.ts";
import { toVersion, toWebhook, type VersionRow, WEBHOOK_COLUMNS, type WebhookRow, webhookColumns } from "./rows.ts";

const SELECT = `
  SELECT webhooks.*, webhook_versions.transform, webhook_tokens.token FROM webhooks
  JOIN webhook_versions USING (environment_id, webhook_id, version)
  JOIN webhook_tokens ON webhook_tokens.environment_id = webhooks.environment_id AND webhook_tokens.webhook_id = webhooks.webhook_id
    AND webhook_tokens.retired_at IS NULL`;
const VERSIONS = `
  SELECT version, transform, created_at, author FROM webhook_versions WHERE environment_id = $1 AND webhook_id = $2 ORDER BY version DESC`;
const INSERT_VERSION = `
  INSERT INTO webhook_versions (environment_id, webhook_id, version, transform, created_at, author) VALUES ($1, $2, $3, $4, $5, $6)`;
const INSERT_TOKEN = "INSERT INTO webhook_tokens (environment_id, webhook_id, token, created_at) VALUES ($1, $2, $3, $4)";
const RETIRE_TOKEN = "UPDATE webhook_tokens SET retired_at = $3 WHERE environment_id = $1 AND webhook_id = $2 AND retired_at IS NULL";

export function webhookStore(database: Database, announced: Announced, box: SecretBox): WebhookStore {
  return {
    webhookList: async () => (await database.query<WebhookRow>(`${SELECT} ORDER BY webhook_no`)).map((row) => toWebhook(box, row)),
    async webhookRetiredTokenList() {
      const rows = await database.query<{ token: string; webhook_id: string }>(
        "SELECT token, webhook_id FROM webhook_tokens WHERE retired_at IS NOT NULL",
      );
      return rows.map(({ token, webhook_id }) => ({ token, webhookId: webhook_id as WebhookId }));
    },
    webhookInsert: (webhook) => announced("directory", (client) => insert(box, client, webhook)),
    webhookUpdate: ({ changes, updatedAt, author = null, ...key }) =>
      announced("directory", (client) => change(box, client, key, { changes, now: updatedAt, author })),
    webhookRotate: ({ token, rotatedAt, ...key }) =>
      announced("directory", async (client) => {
        if (!(await find(box, client, key))) return null;
        await client.query(RETIRE_TOKEN, [key.environmentId, key.id, rotatedAt]);
        await client.query(INSERT_TOKEN, [key.environmentId, key.id, token, rotatedAt]);
        return change(box, client, key, { changes: {}, now: rotatedAt, author: null });
      }),
    webhookDelete: ({ deletedAt, ...key }) =>
      announced("directory", async (client) => {
        const webhook = await find(box, client, key);
        if (webhook) {
          await client.query("UPDATE webhooks SET deleted_at = $3, updated_at = $3 WHERE environment_id = $1 AND webhook_id = $2", [
            key.environmentId,
            key.id,
            deletedAt,
          ]);
        }
        return webhook && { ...webhook, deletedAt, updatedAt: deletedAt };
      }),
    webhookVersionList: async ({ environmentId, id }) => (await database.read<VersionRow>(VERSIONS, [environmentId, id])).map(toVersion),
  };
}

/** Locks the webhook, so that nodes change it one after the other. */
async function find(box: SecretBox, client: PoolClient, { environmentId, id }: WebhookKey): Promise<Webhook | null> {
  const isThis = "webhooks.environment_id = $1 AND webhooks.webhook_id = $2";
  await client.query(`SELECT 1 FROM webhooks WHERE ${isThis} FOR UPDATE`, [environmentId, id]);
  const { rows } = await client.query<WebhookRow>(`${SELECT} WHERE ${isThis} AND deleted_at IS NULL`, [environmentId, id]);
  return rows[0] ? toWebhook(box, rows[0]) : null;
}

async function insert(box: SecretBox, client: PoolClient, webhook: Parameters<WebhookStore["webhookInsert"]>[0]): Promise<Webhook> {
  const { id, environmentId, name, createdAt } = webhook;
  await client.query(
    `INSERT INTO webhooks (webhook_id, environment_id, name, version, created_at, updated_at, ${WEBHOOK_COLUMNS.join(", ")})
     VALUES ($1, $2, $3, 1, $4, $4, ${WEBHOOK_COLUMNS.map((_, at) => `$${at + 5}`).join(", ")})`,
    [id, environmentId, name, createdAt, ...webhookColumns(box, webhook)],
  );
  await client.query(INSERT_TOKEN, [environmentId, id, webhook.token, createdAt]);
  await client.query(INSERT_VERSION, [environmentId, id, 1, webhook.transform, createdAt, webhook.author ?? null]);
  return (await find(box, client, webhook)) as Webhook;
}

interface Change {
  changes: WebhookChanges;
  now: number;
  author: string | null;
}

async function change(box: SecretBox, client: PoolClient, key: WebhookKey, { changes, now, author }: Change): Promise<Webhook | null> {
  const webhook = await find(box, client, key);
  if (!webhook) return null;
  const { environmentId, id } = key;
  const known = (await client.query<VersionRow>(VERSIONS, [environmentId, id])).rows.map(toVersion);
  const inForce = versionInForce(webhook, changes, known);
  if (inForce === null) return null;
  const after = { ...webhook, ...changes, secrets: secretsAfter(webhook, changes) };
  if (inForce.isNew) await client.query(INSERT_VERSION, [environmentId, id, inForce.version, after.transform, now, author]);
  await client.query(
    `UPDATE webhooks SET name = $3, version = $4, updated_at = $5, ${WEBHOOK_COLUMNS.map((column, at) => `${column} = $${at + 6}`).join(", ")}
     WHERE environment_id = $1 AND webhook_id = $2`,
    [environmentId, id, after.name, inForce.version, now, ...webhookColumns(box, after)],
  );
  return find(box, client, key);
}

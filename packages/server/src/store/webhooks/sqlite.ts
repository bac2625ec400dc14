/** Webhooks in SQLite. Few rows, read whole; the service finds a webhook by its token in memory. */

import type { DatabaseSync } from "node:sqlite";
import type { WebhookId } from "@inlet/protocol";
import type { Webhook, WebhookChanges, WebhookStore, WebhookVersion } from "../contract/index.ts";
import type { SecretBox } from "../secrets/rows/secret-box.ts";
import type { GroupCommit } from "../sqlite/group-commit.ts";
import { secretsAfter, versionInForce } from "./policy.ts";
import { toVersion, toWebhook, type VersionRow, WEBHOOK_COLUMNS, type WebhookRow, webhookColumns } from "./rows.ts";

const SELECT = `
  SELECT webhooks.*, webhook_versions.transform, webhook_tokens.token FROM webhooks
  JOIN webhook_versions USING (webhook_id, version)
  JOIN webhook_tokens ON webhook_tokens.webhook_id = webhooks.webhook_id AND webhook_tokens.retired_at IS NULL`;

export function webhookStore(db: DatabaseSync, writer: GroupCommit, box: SecretBox): WebhookStore {
  const list = db.prepare(`${SELECT} ORDER BY webhooks.rowid`);
  const get = db.prepare(`${SELECT} WHERE webhooks.webhook_id = ? AND deleted_at IS NULL`);
  const retired = db.prepare("SELECT token, webhook_id FROM webhook_tokens WHERE retired_at IS NOT NULL");
  const insertWebhook = db.prepare(`
    INSERT INTO webhooks (webhook_id, environment_id, name, version, ${WEBHOOK_COLUMNS.join(", ")}, created_at, updated_at)
    VALUES (?, ?, ?, 1, ${WEBHOOK_COLUMNS.map(() => "?").join(", ")}, ?, ?)`);
  const insertToken = db.prepare("INSERT INTO webhook_tokens (token, webhook_id, created_at) VALUES (?, ?, ?)");
  const retireToken = db.prepare("UPDATE webhook_tokens SET retired_at = ? WHERE webhook_id = ? AND retired_at IS NULL");
  const insertVersion = db.prepare(
    "INSERT INTO webhook_versions (webhook_id, version, transform, created_at, author) VALUES (?, ?, ?, ?, ?)",
  );
  const versions = db.prepare(
    "SELECT version, transform, created_at, author FROM webhook_versions WHERE webhook_id = ? ORDER BY version DESC",
  );
  const update = db.prepare(`
    UPDATE webhooks SET name = ?, version = ?, ${WEBHOOK_COLUMNS.map((column) => `${column} = ?`).join(", ")}, updated_at = ?
    WHERE webhook_id = ?`);
  const remove = db.prepare("UPDATE webhooks SET deleted_at = ?, updated_at = ? WHERE webhook_id = ?");

  const find = (id: WebhookId): Webhook | null => {
    const row = get.get(id);
    return row ? toWebhook(box, row as unknown as WebhookRow) : null;
  };
  const versionsOf = (id: WebhookId): WebhookVersion[] => (versions.all(id) as unknown as VersionRow[]).map(toVersion);

  function change(id: WebhookId, changes: WebhookChanges, now: number, author: string | null): Webhook | null {
    const webhook = find(id);
    if (!webhook) return null;
    const inForce = versionInForce(webhook, changes, versionsOf(id));
    if (inForce === null) return null;
    const after = { ...webhook, ...changes, secrets: secretsAfter(webhook, changes) };
    if (inForce.isNew) insertVersion.run(id, inForce.version, after.transform, now, author);
    update.run(after.name, inForce.version, ...webhookColumns(box, after), now, id);
    return find(id);
  }

  return {
    webhookList: async () => (list.all() as unknown as WebhookRow[]).map((row) => toWebhook(box, row)),
    webhookRetiredTokenList: async () =>
      (retired.all() as { token: string; webhook_id: string }[]).map((row) => ({
        token: row.token,
        webhookId: row.webhook_id as WebhookId,
      })),
    webhookInsert: (webhook) =>
      writer.submit(() => {
        const { id, environmentId, name, createdAt } = webhook;
        insertWebhook.run(id, environmentId, name, ...webhookColumns(box, webhook), createdAt, createdAt);
        insertToken.run(webhook.token, id, createdAt);
        insertVersion.run(id, 1, webhook.transform, createdAt, webhook.author ?? null);
        return find(id) as Webhook;
      }),
    webhookUpdate: ({ id, changes, updatedAt, author = null }) => writer.submit(() => change(id, changes, updatedAt, author)),
    webhookRotate: ({ id, token, rotatedAt }) =>
      writer.submit(() => {
        if (!find(id)) return null;
        retireToken.run(rotatedAt, id);
        insertToken.run(token, id, rotatedAt);
        return change(id, {}, rotatedAt, null);
      }),
    webhookDelete: ({ id, deletedAt }) =>
      writer.submit(() => {
        const webhook = find(id);
        if (webhook) remove.run(deletedAt, deletedAt, id);
        return webhook && { ...webhook, deletedAt, updatedAt: deletedAt };
      }),
    webhookVersionList: async ({ id }) => versionsOf(id),
  };
}

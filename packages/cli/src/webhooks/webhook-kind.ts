/** Webhooks, for the planner: how entries of the folder and webhooks of the server are compared, told and changed. */

import { writeFileSync } from "node:fs";
import type { ObjectKind, Step, Tense } from "../plan/object-kind.ts";
import { COMPARED_FIELDS, type ComparedField, changedFields } from "./compare/changed-fields.ts";
import type { ServerWebhook } from "./compare/server-webhook.ts";
import { dirFlag, type Entry } from "./folder/entry.ts";
import { readText } from "./folder/read-folder.ts";
import { isSecretField, settingToSend } from "./folder/secret-names.ts";
import { withId } from "./folder/webhook-file.ts";
import type { WebhookFields, WebhooksClient } from "./webhooks-client.ts";
import { changeLines, written, writtenSetting } from "./write-difference.ts";

type WebhookStep = Step<Entry, ServerWebhook>;

export function webhookKind(client: WebhooksClient): ObjectKind<Entry, ServerWebhook> {
  return {
    changes: changedFields,
    heading,
    details,
    json: stepJson,
    unchangedJson: ({ files }, webhook) => ({ folder: files.folder, ...identity(webhook) }),
    unlistedName: webhookName,
    unlistedJson: identity,
    where: (step) => (step.action === "delete" ? `"${step.theirs.name}"` : step.mine.files.folder),
    check: (step) => void valuesOf(step),
    async take(step) {
      const webhook = await take(client, step);
      if (step.action === "delete" || !webhook) return { step, lines: [], notes: [], json: {} };
      recordId(step.mine, webhook);
      // The URL is a secret, so it is printed only for a new webhook.
      const url = step.action === "create" ? webhook.url : undefined;
      return {
        step: settled(step, webhook),
        lines: url === undefined ? [] : [`url: ${url}`],
        notes: waitingNote(step.mine, webhook),
        json: { id: webhook.id, state: webhook.state, url },
      };
    },
    keep(entry, webhook) {
      recordId(entry, webhook);
      return waitingNote(entry, webhook);
    },
  };
}

export function webhookName({ name, environment, id }: ServerWebhook): string {
  return `"${name}" in ${environment} (${id})`;
}

function heading(step: WebhookStep): string {
  if (step.action === "delete") return webhookName(step.theirs);
  const { slug, name, environment } = step.mine;
  if (step.action === "change") return `${slug}: ${webhookName(step.theirs)}`;
  return `${slug}: "${name}" in ${environment ?? "the server's default environment"}`;
}

function details(step: WebhookStep, tense: Tense): string[] {
  if (step.action === "delete") return [tense === "done" ? "its URL no longer works" : "its URL would no longer work"];
  return step.action === "create" ? settingLines(step.mine) : step.changes.flatMap((change) => changeLines(change, "to server"));
}

/** Only settings that differ from the defaults. */
function settingLines({ eventNames, ips, enabled, transform, verify, handshake, answer, mirror, reconcile }: Entry): string[] {
  const settings = Object.entries({ verify, handshake, answer, mirror, reconcile }).filter(([, value]) => value !== null);
  const lines = transform.trimEnd().split("\n").length;
  return [
    ...(enabled ? [] : ["enabled: false"]),
    ...(eventNames ? [`eventNames: ${written(eventNames)}`] : []),
    ...(ips ? [`ips: ${written(ips)}`] : []),
    ...settings.map(([field, value]) => `${field}: ${writtenSetting(value)}`),
    `transform: ${lines === 1 ? "1 line" : `${lines} lines`}`,
  ];
}

function stepJson(step: WebhookStep) {
  const { action } = step;
  if (action === "delete") return { action, folder: null, ...identity(step.theirs), fields: [] };
  const { name, environment, files } = step.mine;
  if (action === "create") return { action, folder: files.folder, id: null, name, environment, fields: [] };
  return { action, folder: files.folder, ...identity(step.theirs), fields: step.changes };
}

function identity({ id, name, environment }: ServerWebhook) {
  return { id, name, environment };
}

async function take(client: WebhooksClient, step: WebhookStep): Promise<ServerWebhook | null> {
  if (step.action === "delete") {
    await client.remove(step.theirs);
    return null;
  }
  const values = valuesOf(step);
  if (step.action === "change") return client.change(step.theirs, values);
  return client.create(step.mine.environment, values as unknown as WebhookFields);
}

/** The fields to send, with the values of secrets instead of their names. */
function valuesOf(step: WebhookStep): Partial<WebhookFields> {
  if (step.action === "delete") return {};
  const { mine: entry } = step;
  const fields =
    step.action === "create" ? COMPARED_FIELDS.filter((field) => entry[field] !== null) : step.changes.map(({ field }) => field);
  const mayWait = step.action === "create" || isWaiting(step.theirs);
  const toSend = (field: string) => (isSecretField(field) ? settingToSend(entry, field, { mayWait }) : entry[field as ComparedField]);
  return Object.fromEntries(fields.map((field) => [field, toSend(field)]));
}

/** After creation, the name of the server's default environment is known. */
function settled(step: Exclude<WebhookStep, { action: "delete" }>, { environment }: ServerWebhook): WebhookStep {
  return step.action === "create" ? { action: "create", mine: { ...step.mine, environment } } : step;
}

/** An existing id is never replaced, because it may belong to another server. */
function recordId({ id, files }: Entry, webhook: ServerWebhook): void {
  if (id !== null) return;
  const text = readText(files.webhook);
  if (text !== null) writeFileSync(files.webhook, withId(text, webhook.id));
}

function isWaiting({ state }: ServerWebhook): boolean {
  return state === "waiting_for_secret";
}

/** The one command that completes a webhook without a secret. */
function waitingNote({ name, verify, files }: Entry, webhook: ServerWebhook): string[] {
  if (!isWaiting(webhook)) return [];
  const variable = verify?.secrets?.[0];
  const command = variable === undefined ? "set verify.secrets" : `${variable}=… inlet webhooks apply${dirFlag(files)}`;
  return [`"${name}" waits for its secret: requests are recorded and refused until then. Enter the URL at the provider, then: ${command}`];
}

/**
 * Matches entries of the folder to webhooks of the server.
 *
 * 1. The one with the entry's id, in the entry's environment.
 * 2. Without an id, or if none has it: the one with the entry's name, in the entry's environment.
 * 3. Otherwise it is new.
 *
 * The id allows a webhook to be renamed. The name allows one folder to serve several servers.
 * No two entries match the same webhook, and an ambiguous name is a fault.
 */

import type { Matching } from "../../plan/object-kind.ts";
import type { Entry } from "../folder/entry.ts";
import type { ServerList, ServerWebhook } from "./server-webhook.ts";

export function matchEntries(entries: readonly Entry[], lists: readonly ServerList[]): Matching<Entry, ServerWebhook> {
  const faults: string[] = [];
  const found = new Map<Entry, ServerWebhook>();
  const owners = new Map<string, Entry>();
  const take = (entry: Entry, webhook: ServerWebhook) => {
    found.set(entry, webhook);
    owners.set(webhook.id, entry);
  };

  for (const entry of entries.filter(({ id }) => id !== null)) {
    const webhook = webhooksFor(entry, lists).find(({ id }) => id === entry.id);
    const owner = webhook && owners.get(webhook.id);
    if (owner) faults.push(`${owner.files.webhook} and ${entry.files.webhook} have the same id ${entry.id}; remove it from one of them`);
    else if (webhook) take(entry, webhook);
  }

  const names = new Map<string, Entry>();
  for (const entry of entries.filter((candidate) => !found.has(candidate))) {
    const key = JSON.stringify([entry.environment, entry.name]);
    const other = names.get(key);
    names.set(key, entry);
    const candidates = webhooksFor(entry, lists).filter(({ id, name }) => name === entry.name && !owners.has(id));
    const [webhook] = candidates;
    if (other) faults.push(`${other.files.webhook} and ${entry.files.webhook} have the same name "${entry.name}" in one environment`);
    else if (candidates.length > 1) faults.push(ambiguous(entry, candidates));
    else if (webhook) take(entry, webhook);
  }

  const all = new Map(lists.flatMap(({ webhooks }) => webhooks.map((webhook) => [webhook.id, webhook])));
  return {
    matches: entries.map((entry) => ({ mine: entry, theirs: found.get(entry) ?? null })),
    unlisted: [...all.values()].filter(({ id }) => !owners.has(id)),
    faults,
  };
}

function webhooksFor(entry: Entry, lists: readonly ServerList[]): readonly ServerWebhook[] {
  return lists.find(({ environment }) => environment === entry.environment)?.webhooks ?? [];
}

function ambiguous({ files, name }: Entry, candidates: ServerWebhook[]): string {
  const ids = candidates.map(({ id }) => id).join(", ");
  return `${files.webhook}: the server has ${candidates.length} webhooks named "${name}" (${ids}); add the "id" of the right one`;
}

/**
 * `inlet webhooks pull`: writes the server's webhooks to files.
 *
 * Writes what is missing in the folder. A file that differs is shown, and overwritten only with --force.
 * Fixtures, and entries that the server does not have, are never changed.
 */

import { writeFileSync } from "node:fs";
import { basename } from "node:path";
import { stopOn } from "../../command-line/command-fault.ts";
import { type CommandResult, EXIT } from "../../command-line/command-result.ts";
import type { Call, Variables } from "../../command-line/command-row.ts";
import { styleText } from "../../command-line/terminal-text.ts";
import type { FieldChange } from "../../plan/object-kind.ts";
import { indented } from "../../plan/step-lines.ts";
import { inEnvironment, readServer } from "../compare/both-sides.ts";
import { changedFields } from "../compare/changed-fields.ts";
import { matchEntries } from "../compare/match-entries.ts";
import type { ServerWebhook } from "../compare/server-webhook.ts";
import { type Entry, type EntryFiles, type FileSettings, filesOf, type WebhookFile } from "../folder/entry.ts";
import { freeFolderName } from "../folder/folder-name.ts";
import { makeEntry } from "../folder/make-entry.ts";
import { namesIn, readFolderIfAny, readText } from "../folder/read-folder.ts";
import { namesFor, type SecretField, withSecrets } from "../folder/secret-names.ts";
import { readWebhookFile, webhookFileText, withId } from "../folder/webhook-file.ts";
import { webhookName } from "../webhook-kind.ts";
import { createWebhooksClient } from "../webhooks-client.ts";
import type { PULL_FLAGS } from "../webhooks-flags.ts";
import { changeLines } from "../write-difference.ts";

interface Pulled {
  action: "written" | "overwritten" | "differs" | "unchanged";
  files: EntryFiles;
  webhook: ServerWebhook;
  changes: FieldChange[];
}

export async function pullWebhooks({ options, io }: Call<typeof PULL_FLAGS>): Promise<CommandResult> {
  return pullInto(options, io.variables, [options.env]);
}

/** Also of the environments that entries of the folder have. */
export async function pullInto(
  options: Pick<Call<typeof PULL_FLAGS>["options"], "dir" | "url" | "apiKey" | "env" | "force">,
  variables: Variables,
  environments: readonly (string | null)[],
): Promise<CommandResult & { json: object }> {
  const { dir, force } = options;
  // Before the folder is read: what appears in the meantime may be one of the same webhooks.
  const taken = namesIn(dir);
  const entries = withSecrets(inEnvironment(readFolderIfAny(dir), options), variables);
  const names = [...environments, ...entries.map(({ environment }) => environment)];
  const { matches, unlisted, faults } = matchEntries(entries, await readServer(createWebhooksClient(options), names));
  stopOn(faults);
  const known = matches.flatMap(({ mine, theirs }) => (theirs ? [pullKnown(mine, theirs, force)] : []));
  const added = pullAdded(dir, taken, unlisted);
  const onlyLocal = matches.filter(({ theirs }) => !theirs).map(({ mine }) => mine.files.folder);
  return result([...added, ...known], onlyLocal);
}

function pullKnown(entry: Entry, webhook: ServerWebhook, force: boolean): Pulled {
  const { files } = entry;
  const changes = changedFields(entry, webhook);
  if (changes.length > 0 && !force) return { action: "differs", files, webhook, changes };
  const settingsDiffer = changes.some(({ field }) => field !== "transform") || entry.id !== webhook.id;
  if (settingsDiffer && force) overwriteSettings(entry, webhook);
  else if (entry.id === null) writeFileSync(files.webhook, withId(readText(files.webhook) ?? "", webhook.id));
  if (changes.some(({ field }) => field === "transform")) writeFileSync(files.transform, webhook.transform);
  return { action: changes.length > 0 ? "overwritten" : "unchanged", files, webhook, changes };
}

/** A file without an environment stays without one. */
function overwriteSettings(entry: Entry, webhook: ServerWebhook): void {
  const { files } = entry;
  const before = readWebhookFile(files.webhook, readText(files.webhook) ?? "", []);
  writeFileSync(files.webhook, webhookFileText({ ...asFile(webhook, entry.slug, before), environment: before?.environment ?? null }));
}

/** The server does not know the names of secrets: those in the file are kept if their number matches. */
function asFile(webhook: ServerWebhook, slug: string, before: WebhookFile | null): WebhookFile {
  const named = (field: SecretField): FileSettings | null => {
    const setting = webhook[field];
    if (!setting) return null;
    const { secrets, ...rest } = setting;
    const known = before?.[field]?.secrets;
    if (!secrets || secrets.length === 0) return rest;
    return {
      ...rest,
      secrets: known?.length === secrets.length ? known : namesFor(field === "verify" ? slug : `${slug}-${field}`, secrets.length),
    };
  };
  return {
    ...webhook,
    verify: named("verify"),
    handshake: named("handshake"),
    reconcile: named("reconcile"),
    answer: webhook.answer as FileSettings | null,
    mirror: webhook.mirror as FileSettings | null,
  };
}

/** Oldest first, so that folder names follow the order of creation. */
function pullAdded(dir: string, taken: Set<string>, webhooks: readonly ServerWebhook[]): Pulled[] {
  return webhooks.toReversed().map((webhook) => {
    const slug = freeFolderName(webhook.name, webhook.environment, taken);
    taken.add(slug);
    const files = filesOf(dir, slug);
    makeEntry(files.folder, {
      [basename(files.webhook)]: webhookFileText(asFile(webhook, slug, null)),
      [basename(files.transform)]: webhook.transform,
    });
    return { action: "written", files, webhook, changes: [] };
  });
}

function result(pulled: readonly Pulled[], onlyLocal: readonly string[]): CommandResult & { json: object } {
  const count = (action: Pulled["action"]) => pulled.filter((item) => item.action === action).length;
  const differing = count("differs");
  const lines = pulled.filter(({ action }) => action !== "unchanged").flatMap((item) => [...pulledLines(item), ""]);
  const kept = `${differing} different and not overwritten`;
  const total = [`${count("written")} written, ${count("overwritten")} overwritten, ${count("unchanged")} unchanged, ${kept}.`];
  if (differing > 0) total.push('--force takes the server\'s version; "inlet webhooks apply" sends yours.');
  if (onlyLocal.length > 0) total.push(`Only in the folder: ${onlyLocal.join(", ")}.`);
  return {
    exitCode: differing > 0 ? EXIT.differs : EXIT.ok,
    text: [...lines, ...total].join("\n"),
    json: {
      webhooks: pulled.map(({ action, files, webhook: { id, name, environment }, changes }) => ({
        action,
        folder: files.folder,
        id,
        name,
        environment,
        fields: changes,
      })),
      onlyLocal,
    },
  };
}

function pulledLines({ action, files, webhook, changes }: Pulled): string[] {
  const head = `${files.folder}: ${action}, ${webhookName(webhook)}`;
  if (action === "written") return [styleText("green", `+ ${head}`)];
  return [
    styleText("yellow", `~ ${head}`),
    ...indented(
      4,
      changes.flatMap((change) => changeLines(change, "to folder")),
    ),
  ];
}

/** `inlet webhooks new`: creates the files of a webhook. Overwrites nothing. */

import { mkdirSync, writeFileSync } from "node:fs";
import { PROVIDERS, type Provider, readProviderFixtures, readProviderTransform } from "@inlet/server/transform";
import { CommandFault } from "../../command-line/command-fault.ts";
import { type CommandResult, EXIT } from "../../command-line/command-result.ts";
import type { Call } from "../../command-line/command-row.ts";
import { columns } from "../../command-line/help.ts";
import { filesOf } from "../folder/entry.ts";
import { folderName } from "../folder/folder-name.ts";
import { namesIn } from "../folder/read-folder.ts";
import { webhookFileText } from "../folder/webhook-file.ts";
import type { NEW_FLAGS } from "../webhooks-flags.ts";

export async function newWebhook({ names, options: { dir, from, list, env } }: Call<typeof NEW_FLAGS>): Promise<CommandResult> {
  if (list) return providerList();
  const provider = providerNamed(from ?? "generic");
  const name = names[0] ?? (from === null ? null : provider.title);
  if (!name?.trim()) throw new CommandFault('Name the webhook, or say what to start from, as in "inlet webhooks new --from stripe".');

  const files = filesOf(dir, folderName(name));
  if (namesIn(dir).has(folderName(name))) {
    throw new CommandFault(`${files.folder} already exists. Choose another name for the webhook.`);
  }
  const settings = { id: null, name, environment: env, eventNames: null, ips: null, enabled: true };
  const texts = {
    [files.webhook]: webhookFileText(settings),
    [files.transform]: await readProviderTransform(provider.id),
    [files.fixtures]: `${JSON.stringify(await readProviderFixtures(provider.id), null, 2)}\n`,
  };
  mkdirSync(files.folder, { recursive: true });
  for (const [file, text] of Object.entries(texts)) writeFileSync(file, text, { flag: "wx" });
  return { exitCode: EXIT.ok, text: nextSteps(Object.keys(texts), provider), json: { name, files: Object.keys(texts), provider } };
}

function providerNamed(id: string): Provider {
  const provider = PROVIDERS.find((candidate) => candidate.id === id.toLowerCase());
  if (!provider) throw new CommandFault(`Unknown provider "${id}". Providers: ${PROVIDERS.map((known) => known.id).join(", ")}.`);
  return provider;
}

function providerList(): CommandResult {
  const rows = PROVIDERS.map(({ id, sends }) => [id, sends] as const);
  return { exitCode: EXIT.ok, text: columns(rows), json: { providers: PROVIDERS } };
}

function nextSteps(files: string[], { setUp }: Provider): string {
  return `${files.map((file) => `+ ${file}`).join("\n")}

Next: "inlet webhooks test" runs the fixtures, "inlet webhooks apply" creates the webhook and prints its URL.
Where to enter the URL: ${setUp}.`;
}

/** `inlet webhooks new`: creates the files of a webhook. Overwrites nothing. */

import { basename } from "node:path";
import { PROVIDERS, type Provider, readProviderFixtures, readProviderTransform } from "@inlet/providers";
import { CommandFault } from "../../command-line/command-fault.ts";
import { type CommandResult, EXIT } from "../../command-line/command-result.ts";
import type { Call } from "../../command-line/command-row.ts";
import { columns } from "../../command-line/help.ts";
import { dirFlag, filesOf, type WebhookFile } from "../folder/entry.ts";
import { folderName } from "../folder/folder-name.ts";
import { makeEntry } from "../folder/make-entry.ts";
import { namesIn } from "../folder/read-folder.ts";
import { namesFor } from "../folder/secret-names.ts";
import { webhookFileText } from "../folder/webhook-file.ts";
import type { NEW_FLAGS } from "../webhooks-flags.ts";

export async function newWebhook({
  names,
  options: { dir, from, provider: chosen, list, env },
}: Call<typeof NEW_FLAGS>): Promise<CommandResult> {
  if (list) return providerList();
  if (from !== null && chosen !== null) throw new CommandFault("Use either --provider or --from, not both.");
  const provider = providerNamed(chosen ?? from ?? "generic");
  const name = names[0] ?? (from === null && chosen === null ? null : provider.title);
  if (!name?.trim()) throw new CommandFault('Name the webhook, or say what to start from, as in "inlet webhooks new --provider stripe".');

  const files = filesOf(dir, folderName(name));
  if (namesIn(dir).has(folderName(name))) {
    throw new CommandFault(`${files.folder} already exists. Choose another name for the webhook.`);
  }
  const plain = {
    id: null,
    name,
    environment: env,
    eventNames: null,
    ips: null,
    enabled: true,
    mirror: null,
    reconcile: null,
  };
  const settings = { ...plain, ...(chosen === null ? NO_SETTINGS : settingsOf(provider, folderName(name))) };
  const texts = {
    [files.webhook]: webhookFileText(settings),
    [files.transform]: await readProviderTransform(provider.id),
    [files.fixtures]: `${JSON.stringify(await readProviderFixtures(provider.id), null, 2)}\n`,
  };
  makeEntry(files.folder, Object.fromEntries(Object.entries(texts).map(([file, text]) => [basename(file), text])));
  const secret = chosen === null ? null : provider.secretFrom;
  return {
    exitCode: EXIT.ok,
    text: nextSteps({
      files: Object.keys(texts),
      dir: dirFlag(files),
      provider,
      secretFrom: secret,
      settings,
      isTransformOnly: from !== null,
    }),
    json: { name, files: Object.keys(texts), provider },
  };
}

const NO_SETTINGS = { verify: null, handshake: null, answer: null };

/** The catalogue's settings. */
function settingsOf(provider: Provider, slug: string): Pick<WebhookFile, "verify" | "handshake" | "answer"> {
  return { ...checksOf(provider, slug), answer: provider.answer ? { ...provider.answer } : null };
}

/** A secret that the provider sends is not named. Without a scheme, the handshake checks it. */
function checksOf({ verify, handshake, secretFrom }: Provider, slug: string): Pick<WebhookFile, "verify" | "handshake"> {
  const secrets = secretFrom === null ? {} : { secrets: namesFor(slug, 1) };
  if (!verify) return { verify: null, handshake: handshake && { ...handshake, ...secrets } };
  const token = handshake && "preset" in handshake && handshake.preset === "meta" ? { secrets: namesFor(`${slug}-verify-token`, 1) } : {};
  return { verify: { ...verify, ...secrets }, handshake: handshake && { ...handshake, ...token } };
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

interface Made {
  files: string[];
  /** As a flag of the next commands. */
  dir: string;
  provider: Provider;
  secretFrom: string | null;
  settings: Pick<WebhookFile, "verify">;
  /** Made with --from. */
  isTransformOnly: boolean;
}

function nextSteps({ files, dir, provider: { id, setUp, verify }, secretFrom, settings, isTransformOnly }: Made): string {
  const variable = settings.verify?.secrets?.[0] ?? "the variable named in webhook.json";
  const secret = `The secret: ${secretFrom}. Set ${variable} to it when you apply. Without it, apply creates the webhook and prints the URL; it waits for its secret until you apply again.`;
  const unverified = `It verifies nothing: --from takes only the transform. Use "--provider ${id}" to verify requests, too.`;
  return [
    ...files.map((file) => `+ ${file}`),
    "",
    `Next: "inlet webhooks test${dir}" runs the fixtures, "inlet webhooks apply${dir}" creates the webhook and prints its URL.`,
    `Where to enter the URL: ${setUp}.`,
    ...(secretFrom === null ? [] : [secret]),
    ...(isTransformOnly && verify && !settings.verify ? [unverified] : []),
  ].join("\n");
}

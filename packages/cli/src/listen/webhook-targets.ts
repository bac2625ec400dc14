/** The selected webhooks, and the local target of each. */

import { CommandFault } from "../command-line/command-fault.ts";
import { EXIT } from "../command-line/command-result.ts";
import { createRestClient, type RestClient } from "../rest/rest-client.ts";

export interface ListenWebhook {
  id: string;
  name: string;
  url: string;
}

export interface Target {
  /** A URL without a path is a dev server; with a path it is an app. */
  isInlet: boolean;
  eventsUrl: string;
}

interface TargetOptions {
  to: string;
  toKey: string;
  toEnv: string | null;
}

export function targetOf({ to, toKey }: TargetOptions): Target {
  const { pathname, search } = new URL(to);
  const isInlet = pathname === "/" && search === "";
  return { isInlet, eventsUrl: isInlet ? `${to.replace(/\/+$/, "")}/e/${encodeURIComponent(toKey)}` : to };
}

interface SourceAndTarget {
  url: string;
  env: string | null;
  to: string;
  toEnv: string | null;
}

/** Every copy would be copied again, without end. */
export async function refuseOwnSource(rest: RestClient, { url, env, to, toEnv }: SourceAndTarget): Promise<void> {
  if (hostOf(url) !== hostOf(to)) return;
  const isSame = env === toEnv || ((env === null || toEnv === null) && (env ?? toEnv) === (await defaultEnvironment(rest)));
  if (!isSame) return;
  const advice = "Set the deployed service with --url, or another target with --to.";
  throw new CommandFault(`The source and the target are the same service: ${to}. ${advice}`, "usage", EXIT.usage);
}

async function defaultEnvironment(rest: RestClient): Promise<string | undefined> {
  const { items } = await rest.list<{ name: string; kind: string }>({ path: "/environments" });
  return items.find(({ kind }) => kind === "default")?.name;
}

function hostOf(url: string): string {
  const { hostname, port, protocol } = new URL(url);
  const isOwnMachine = /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(hostname);
  return `${isOwnMachine ? "localhost" : hostname}:${port || (protocol === "https:" ? 443 : 80)}`;
}

export async function chosenWebhooks(rest: RestClient, { webhook: names }: { webhook: readonly string[] }): Promise<ListenWebhook[]> {
  const { items } = await rest.list<ListenWebhook>({ path: "/webhooks" });
  const there = items.length > 0 ? `Webhooks: ${items.map(({ name }) => name).join(", ")}.` : "It has no webhooks.";
  if (names.length === 0 && items.length === 0) throw new CommandFault("The environment has no webhooks. Check --env.");
  if (names.length === 0) return items;
  return names.map((name) => {
    const found = items.find((webhook) => webhook.id === name || webhook.name.toLowerCase() === name.toLowerCase());
    if (!found) throw new CommandFault(`The environment has no webhook "${name}". ${there}`);
    return found;
  });
}

/** For a dev server, the target is the webhook with the same name; otherwise the URL itself. */
export async function webhookUrlAt(options: TargetOptions, { name }: ListenWebhook): Promise<string> {
  if (!targetOf(options).isInlet) return options.to;
  const local = createRestClient({ url: options.to, apiKey: null, env: options.toEnv });
  const { items } = await local.list<ListenWebhook>({ path: "/webhooks" });
  const found = items.find((webhook) => webhook.name === name);
  if (found) return found.url;
  throw new CommandFault([
    `${local.base} has no webhook named "${name}" for the requests.`,
    `Run "inlet webhooks pull" and "inlet webhooks apply --url ${local.base}" to create it, or set the URL of an app with --to.`,
  ]);
}

/** The plan of a whole folder: every kind of object that its files describe, compared with the server. */

import { join } from "node:path";
import { CommandFault, stopOn } from "../command-line/command-fault.ts";
import type { Variables } from "../command-line/command-row.ts";
import { joinPlans, makePlan, type Plan } from "../plan/make-plan.ts";
import { createRestClient, type RestClient } from "../rest/rest-client.ts";
import { inEnvironment } from "../webhooks/compare/both-sides.ts";
import { matchEntries } from "../webhooks/compare/match-entries.ts";
import type { Entry } from "../webhooks/folder/entry.ts";
import { isFolder, readFolderIfAny } from "../webhooks/folder/read-folder.ts";
import { withSecrets } from "../webhooks/folder/secret-names.ts";
import { webhookKind } from "../webhooks/webhook-kind.ts";
import { createWebhooksClient } from "../webhooks/webhooks-client.ts";
import type { Definition, Definitions, Section } from "./format/definition.ts";
import { readDefinitions, WEBHOOKS_FOLDER } from "./format/read-definitions.ts";
import { coverKey, type Installation, isSelected, isThere, readEnvironment, readInstallation } from "./installation.ts";
import { alertRules, listAlertRules } from "./kinds/alert-rules.ts";
import { apiKeys, listApiKeys } from "./kinds/api-keys.ts";
import { environmentKind, matchEnvironments } from "./kinds/environments.ts";
import { eventTypes, listEventTypes } from "./kinds/event-types.ts";
import { functionLimits, listFunctionLimits } from "./kinds/function-limits.ts";
import { matchNamed, type NamedKind, namedKind, type ServerObject } from "./kinds/named-object.ts";
import type { NewKeys } from "./kinds/new-keys.ts";

export interface FolderOptions {
  dir: string;
  url: string;
  apiKey: string | null;
  env: readonly string[];
  prune: boolean;
}

/** What the files say, of the environments that the command is about. */
export interface Folder {
  options: FolderOptions;
  rest: RestClient;
  installation: Installation;
  definitions: Definitions;
  entries: Entry[];
  /** Whether the folder speaks of webhooks. */
  hasWebhooks: boolean;
}

export async function readFolderFor(options: FolderOptions, variables: Variables): Promise<Folder> {
  const { dir, env, url, apiKey, prune } = options;
  const all = readDefinitions(dir);
  const webhooksDir = join(dir, WEBHOOKS_FOLDER);
  const found = readFolderIfAny(webhooksDir);
  if (prune && all.objects.length === 0 && found.length === 0)
    throw new CommandFault(`${dir} describes nothing: --prune would delete everything of the server.`);
  const rest = createRestClient({ url, apiKey, env: null });
  const installation = await readInstallation(rest);
  const entries = withSecrets(inEnvironment(found, { env: installation.defaultEnvironment }), variables);
  const folder: Folder = {
    options,
    rest,
    installation,
    definitions: selected(installation, env, all),
    entries: entries.filter(({ environment }) => isSelected(installation, env, environment ?? "")),
    hasWebhooks: isFolder(webhooksDir),
  };
  stopOn([...emptySelections(folder), ...outOfReach(folder)]);
  return folder;
}

export async function planFolder(folder: Folder, newKeys: NewKeys): Promise<Plan> {
  const { rest, installation, options } = folder;
  const home = installation.defaultEnvironment;
  const named = (kind: NamedKind, onServer: readonly ServerObject[]) => {
    const [objects, places] = [
      inSection(folder, kind.section),
      folder.definitions.places.filter(({ section }) => section === kind.section),
    ];
    return makePlan(namedKind(kind), matchNamed(objects, places, onServer), options);
  };
  const rules = await listed(folder, "alertRules", listAlertRules);
  const plan = joinPlans([
    await planEnvironments(folder, newKeys),
    await planWebhooks(folder),
    named(eventTypes(rest), await listed(folder, "eventTypes", listEventTypes)),
    named(alertRules(rest, rules), rules),
    named(functionLimits(rest), await listed(folder, "functions", listFunctionLimits)),
    named(apiKeys(rest, home, newKeys), await listedKeys(folder)),
  ]);
  return { ...plan, notes: notDescribed(folder) };
}

async function planEnvironments(folder: Folder, newKeys: NewKeys): Promise<Plan> {
  const { rest, installation } = folder;
  const objects = inSection(folder, "environments").filter(({ name }) => name !== "branch");
  const there = objects.filter(({ name }) => isThere(installation, name));
  const onServer = await Promise.all(there.map(({ name }) => readEnvironment(rest, name)));
  return makePlan(environmentKind(rest, newKeys), matchEnvironments(objects, onServer), { prune: false });
}

/** The folder of webhooks speaks of all environments that the files describe, and of those of its entries. */
async function planWebhooks(folder: Folder): Promise<Plan> {
  const { options, entries, installation, hasWebhooks } = folder;
  const client = createWebhooksClient(options);
  const isBranch = (name: string) => installation.environments.some((known) => known.name === name && known.kind === "branch");
  const described = hasWebhooks ? inSection(folder, "environments").map(({ name }) => name) : [];
  const names = new Set([...entries.map(({ environment }) => environment ?? ""), ...described.filter((name) => !isBranch(name))]);
  const lists = await Promise.all(
    [...names].map(async (environment) => ({
      environment,
      webhooks: isThere(installation, environment) ? await client.list(environment) : [],
    })),
  );
  return makePlan(webhookKind(client), matchEntries(entries, lists), options);
}

function inSection({ definitions }: Folder, section: Section): Definition[] {
  return definitions.objects.filter((definition) => definition.section === section);
}

async function listed<Theirs extends ServerObject>(
  { rest, installation, definitions }: Folder,
  section: Section,
  list: (rest: RestClient, environment: string) => Promise<Theirs[]>,
): Promise<Theirs[]> {
  const places = definitions.places.flatMap((place) =>
    place.section === section && place.environment !== null ? [place.environment] : [],
  );
  const names = [...new Set(places)].filter((name) => isThere(installation, name));
  return (await Promise.all(names.map((name) => list(rest, name)))).flat();
}

/** The key of the command is left out unless a file describes it: it is never revoked. */
async function listedKeys(folder: Folder): Promise<ServerObject[]> {
  const { rest, installation, definitions, options } = folder;
  if (!definitions.places.some(({ section }) => section === "apiKeys")) return [];
  const keys = await listApiKeys(rest, installation.defaultEnvironment);
  const patterns = options.env.length === 0 ? null : options.env;
  const described = new Set(inSection(folder, "apiKeys").map(({ name }) => name));
  const isOwn = (prefix: string) => options.apiKey?.startsWith(prefix) ?? false;
  return keys.filter(
    ({ name, prefix, fields }) => described.has(name) || (!isOwn(prefix) && coverKey(installation, patterns, fields.environments)),
  );
}

function selected(installation: Installation, env: readonly string[], { objects, places }: Definitions): Definitions {
  const patterns = env.length === 0 ? null : env;
  return {
    objects: objects.filter(({ section, environment, fields }) =>
      section === "apiKeys" ? coverKey(installation, patterns, fields.environments) : isSelected(installation, env, environment ?? ""),
    ),
    places: places.filter(({ environment }) => environment === null || isSelected(installation, env, environment)),
  };
}

/** A name that selects nothing is more likely a mistake. */
function emptySelections({ installation, options, definitions, entries }: Folder): string[] {
  const names = [...definitions.objects, ...entries].flatMap(({ environment }) => environment ?? []);
  return options.env
    .filter((pattern) => !names.some((name) => isSelected(installation, [pattern], name)))
    .map((pattern) => `--env ${pattern}: nothing in ${options.dir} is about this environment`);
}

/** What the key may not see would look as if it were missing. */
function outOfReach({ installation, definitions, entries }: Folder): string[] {
  const { restrictedTo } = installation;
  if (restrictedTo === null) return [];
  const advice = `this API key is restricted to ${restrictedTo.join(", ")}; use --env to leave out the rest`;
  const faults = definitions.objects.flatMap(({ section, environment, name, fields, at }) => {
    const isReached =
      section === "apiKeys" ? coverKey(installation, restrictedTo, fields.environments) : isThere(installation, environment ?? "");
    return isReached || (section !== "apiKeys" && section !== "environments") ? [] : [`${at}: "${name}" is out of reach: ${advice}`];
  });
  const webhooks = entries.filter(({ environment }) => !isThere(installation, environment ?? ""));
  return [...faults, ...webhooks.map(({ files, environment }) => `${files.webhook}: "${environment}" is out of reach: ${advice}`)];
}

/** Branch environments come and go with their branches, so they are not missed. */
function notDescribed({ installation, definitions, options }: Folder): string[] {
  if (options.env.length > 0) return [];
  const described = new Set(definitions.objects.map(({ environment }) => environment));
  const names = installation.environments.filter(
    ({ name, kind, archivedAt }) => kind !== "branch" && archivedAt === null && !described.has(name),
  );
  return names.length === 0 ? [] : [`Environments that no file describes: ${names.map(({ name }) => name).join(", ")}.`];
}

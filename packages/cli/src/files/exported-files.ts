/** What exists on the server, as the text of files: one for each environment, and one for API keys. */

import { isDeepStrictEqual } from "node:util";
import { BRANCH_SCOPE } from "@inlet/protocol";
import { stringify } from "yaml";
import type { RestClient } from "../rest/rest-client.ts";
import { freeFolderName } from "../webhooks/folder/folder-name.ts";
import { type Fields, NOUNS, type Section } from "./format/definition.ts";
import { SCHEMA_FILE } from "./format/file-schema.ts";
import { coverKey, type Installation, isSelected, isThere, readEnvironment } from "./installation.ts";
import { ALERT_RULE_DEFAULTS, listAlertRules } from "./kinds/alert-rules.ts";
import { API_KEY_DEFAULTS, listApiKeys } from "./kinds/api-keys.ts";
import type { ServerEnvironment } from "./kinds/environments.ts";
import { EVENT_TYPE_DEFAULTS, listEventTypes } from "./kinds/event-types.ts";
import { FUNCTION_DEFAULTS, listFunctionLimits } from "./kinds/function-limits.ts";
import type { ServerObject } from "./kinds/named-object.ts";

export interface ExportedFile {
  /** Below the folder, with / between its parts. */
  path: string;
  text: string;
}

interface Exported {
  files: ExportedFile[];
  warnings: string[];
}

type Content = Record<string, unknown>;

export async function exportedFiles(rest: RestClient, installation: Installation, env: readonly string[]): Promise<Exported> {
  const warnings: string[] = [];
  const taken = new Set<string>();
  const files: ExportedFile[] = [];
  for (const { name, kind } of exportedNames(installation, env)) {
    const file = freeFolderName(name, kind, taken);
    taken.add(file);
    const content = await environmentContent(rest, name, kind, warnings);
    files.push({ path: `environments/${file}.yaml`, text: fileText("..", { environments: { [name]: content } }) });
  }
  const patterns = env.length === 0 ? null : env;
  const keys = (await listApiKeys(rest, installation.defaultEnvironment)).filter(({ fields }) =>
    coverKey(installation, patterns, fields.environments),
  );
  files.push({ path: "api-keys.yaml", text: fileText(".", { apiKeys: mapOf("apiKeys", keys, API_KEY_DEFAULTS, warnings) }) });
  return { files, warnings };
}

/** Branch environments come and go with their branches: each is written only if it is named. */
export function exportedNames(installation: Installation, env: readonly string[]): { name: string; kind: string }[] {
  const named = env.filter((pattern) => pattern !== BRANCH_SCOPE);
  const own = installation.environments.filter(({ name, kind }) =>
    kind === "branch" ? named.length > 0 && isSelected(installation, named, name) : isSelected(installation, env, name),
  );
  const shared = isThere(installation, BRANCH_SCOPE) && (env.length === 0 || env.includes(BRANCH_SCOPE));
  const names = own.map(({ name, kind }) => ({ name, kind: kind as string })).sort((one, other) => (one.name < other.name ? -1 : 1));
  return shared ? [...names, { name: BRANCH_SCOPE, kind: "shared" }] : names;
}

async function environmentContent(rest: RestClient, name: string, kind: string, warnings: string[]): Promise<Content> {
  const types = async () => mapOf("eventTypes", await listEventTypes(rest, name), EVENT_TYPE_DEFAULTS, warnings);
  if (kind === "shared") return { eventTypes: await types() };
  return {
    ...settingsOf(await readEnvironment(rest, name)),
    ...(kind !== "branch" && { eventTypes: await types() }),
    alertRules: mapOf("alertRules", await listAlertRules(rest, name), ALERT_RULE_DEFAULTS, warnings),
    functions: mapOf("functions", await listFunctionLimits(rest, name), FUNCTION_DEFAULTS, warnings),
  };
}

/** Where an environment is that was placed nowhere. */
const DIRECTORY = "directory";

function settingsOf({ kind, archivedAt, bodyLimitBytes, retention, quotas = {}, database }: ServerEnvironment): Content {
  const given = (fields: Fields) => Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null));
  const [kept, bounds] = [given(retention), given(quotas)];
  return {
    ...(kind === "branch" && { kind }),
    ...(archivedAt !== null && { archived: true }),
    ...(database !== undefined && database !== DIRECTORY && { database }),
    ...(bodyLimitBytes !== null && { bodyLimitBytes }),
    ...(Object.keys(kept).length > 0 && { retention: kept }),
    ...(Object.keys(bounds).length > 0 && { quotas: bounds }),
  };
}

/** By name, without defaults. Several of one name can be told from each other by nothing, so they are left out unless they are equal. */
function mapOf(section: Section, objects: readonly ServerObject[], defaults: Fields, warnings: string[]): Content {
  const sorted = objects.toSorted((one, other) => (one.name < other.name ? -1 : 1));
  const entries: [string, Fields][] = [];
  for (const name of new Set(sorted.map((object) => object.name))) {
    const same = sorted.filter((object) => object.name === name);
    const [first] = same;
    if (first && same.every(({ fields }) => isDeepStrictEqual(fields, first.fields)))
      entries.push([name, withoutDefaults(first, defaults)]);
    else
      warnings.push(`${same.length} objects of the kind ${NOUNS[section]} are named "${name}" and differ: they are left out; rename one`);
  }
  return Object.fromEntries(entries);
}

function withoutDefaults({ fields }: ServerObject, defaults: Fields): Fields {
  return Object.fromEntries(Object.entries(fields).filter(([field, value]) => !isDeepStrictEqual(value, defaults[field])));
}

function fileText(toRoot: string, content: Content): string {
  const comment = `# yaml-language-server: $schema=${toRoot}/${SCHEMA_FILE}`;
  return `${comment}\n${stringify(content, { lineWidth: 0, aliasDuplicateObjects: false })}`;
}

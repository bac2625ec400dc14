/** Reads a folder of YAML and JSON files into definitions. All faults of all files are collected before they are reported. */

import { statSync } from "node:fs";
import { join, relative } from "node:path";
import { BRANCH_SCOPE } from "@inlet/protocol";
import { CommandFault, stopOn } from "../../command-line/command-fault.ts";
import { listFolder } from "../../command-line/list-folder.ts";
import { readText } from "../../webhooks/folder/read-folder.ts";
import { checkFile } from "./check-file.ts";
import { type Definition, type Definitions, type Fields, NOUNS, type Section } from "./definition.ts";
import { SCHEMA_FILE } from "./file-schema.ts";
import { type ParsedFile, parseFile } from "./parse-file.ts";

/** Webhooks have a folder of their own, in the format of `inlet webhooks`. */
export const WEBHOOKS_FOLDER = "webhooks";
const IN_ENVIRONMENT = ["eventTypes", "alertRules", "functions"] as const;

type FileContent = { environments?: Record<string, Fields | null> | null; apiKeys?: Record<string, Fields> | null };

export function readDefinitions(dir: string): Definitions {
  const faults: string[] = [];
  const files = definitionFiles(dir);
  if (files === null)
    throw new CommandFault(`There is no folder ${dir}. Write one with "inlet export", or set the folder with --dir.`, "usage");
  const parsed = files.flatMap((file) => {
    const content = parseFile(file, readText(file) ?? "", faults);
    return content && content.value !== null && checkFile(content, faults) ? [content] : [];
  });
  const definitions = combined(parsed, faults);
  faults.push(...sharedFaults(definitions));
  stopOn(faults);
  return definitions;
}

/** The files of definitions below a folder, in the order of their names; null if there is no such folder. */
export function definitionFiles(dir: string): string[] | null {
  const entries = listFolder(dir);
  if (!entries) return null;
  return walk(dir, dir);
}

function walk(root: string, dir: string): string[] {
  const entries = (listFolder(dir) ?? []).filter(({ name }) => !name.startsWith(".") && name !== "node_modules");
  return entries
    .sort((one, other) => (one.name < other.name ? -1 : 1))
    .flatMap((entry) => {
      const path = join(dir, entry.name);
      const isWebhooks = relative(root, path) === WEBHOOKS_FOLDER;
      if (entry.isDirectory()) return isWebhooks ? [] : walk(root, path);
      const isFile = entry.isFile() || (entry.isSymbolicLink() && statSync(path, { throwIfNoEntry: false })?.isFile() === true);
      return isFile && /\.(ya?ml|json)$/.test(entry.name) && entry.name !== SCHEMA_FILE ? [path] : [];
    });
}

/** Several files may describe one environment, but each object, and each setting, stands in one of them. */
function combined(files: readonly ParsedFile[], faults: string[]): Definitions {
  const objects = new Map<string, Definition>();
  const places: Definitions["places"] = [];
  const add = (definition: Definition) => {
    const { section, environment, name, fields, at } = definition;
    const key = JSON.stringify([section, environment, name]);
    const other = objects.get(key);
    if (!other) return void objects.set(key, definition);
    const twice = section === "environments" ? Object.keys(fields).find((field) => field in other.fields) : "";
    if (twice === undefined) return void objects.set(key, { ...other, fields: { ...other.fields, ...fields } });
    const what = twice === "" ? `the ${NOUNS[section]} "${name}"` : `"${twice}" of the environment "${name}"`;
    faults.push(`${at}: ${what} is described in ${other.at}, too`);
  };
  for (const { value, at } of files) {
    const { environments, apiKeys } = value as FileContent;
    if (apiKeys !== undefined) places.push({ section: "apiKeys", environment: null });
    for (const [name, fields] of Object.entries(apiKeys ?? {}))
      add({ section: "apiKeys", environment: null, name, fields, at: at(["apiKeys", name]) });
    for (const [environment, content] of Object.entries(environments ?? {})) {
      const { eventTypes, alertRules, functions, ...settings } = (content ?? {}) as Fields &
        Partial<Record<Section, Record<string, Fields>>>;
      add({ section: "environments", environment, name: environment, fields: settings, at: at(["environments", environment]) });
      const sections = { eventTypes, alertRules, functions };
      for (const section of IN_ENVIRONMENT) {
        if (sections[section] === undefined) continue;
        places.push({ section, environment });
        for (const [name, fields] of Object.entries(sections[section] ?? {}))
          add({ section, environment, name, fields, at: at(["environments", environment, section, name]) });
      }
    }
  }
  return { objects: [...objects.values()], places };
}

/** `branch` is not an environment: branch environments share its event types, and nothing else that files describe here. */
function sharedFaults({ objects }: Definitions): string[] {
  const isBranch = new Set(
    objects.flatMap(({ section, name, fields }) => (section === "environments" && fields.kind === "branch" ? [name] : [])),
  );
  return objects.flatMap(({ section, environment, name, fields, at }) => {
    if (environment === BRANCH_SCOPE && section !== "eventTypes" && (section !== "environments" || Object.keys(fields).length > 0))
      return [`${at}: "branch" is what all branch environments share: it has event types only, and webhooks`];
    if (section === "eventTypes" && environment !== null && isBranch.has(environment))
      return [`${at}: the event type "${name}" belongs to "branch", whose event types all branch environments share`];
    return [];
  });
}

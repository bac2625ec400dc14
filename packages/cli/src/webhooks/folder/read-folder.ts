/** Reads a folder of webhooks. All faults of all files are collected before they are reported. */

import { readFileSync } from "node:fs";
import { CommandFault, stopOn } from "../../command-line/command-fault.ts";
import { listFolder } from "../../command-line/list-folder.ts";
import { type Entry, filesOf } from "./entry.ts";
import { readFixturesFile } from "./fixtures-file.ts";
import { readWebhookFile } from "./webhook-file.ts";

/** Folders without any of these files are ignored. */
export function readFolder(dir: string): Entry[] {
  const faults: string[] = [];
  const entries = subfolders(dir).flatMap((slug) => readEntry(dir, slug, faults) ?? []);
  stopOn(faults);
  return entries;
}

/** The same, for a folder that may not exist yet. */
export function readFolderIfAny(dir: string): Entry[] {
  return listFolder(dir) === null ? [] : readFolder(dir);
}

export function isFolder(dir: string): boolean {
  return listFolder(dir) !== null;
}

/** Names that are already in use. */
export function namesIn(dir: string): Set<string> {
  return new Set((listFolder(dir) ?? []).map(({ name }) => name.normalize("NFC").toLowerCase()));
}

/** Null if the file does not exist. */
export function readText(file: string): string | null {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    if (["ENOENT", "ENOTDIR"].includes((error as NodeJS.ErrnoException).code ?? "")) return null;
    throw new CommandFault(`${file} cannot be read: ${(error as Error).message}`);
  }
}

function subfolders(dir: string): string[] {
  const found = listFolder(dir);
  if (!found)
    throw new CommandFault(`There is no folder ${dir}. Create a webhook with "inlet webhooks new", or set the folder with --dir.`, "usage");
  const folders = found.filter((item) => (item.isDirectory() || item.isSymbolicLink()) && !item.name.startsWith("."));
  return folders.map(({ name }) => name).sort();
}

function readEntry(dir: string, slug: string, faults: string[]): Entry | null {
  const files = filesOf(dir, slug);
  const [webhookText, transform, fixturesText] = [files.webhook, files.transform, files.fixtures].map(readText);
  if (webhookText == null && transform == null) {
    if (fixturesText != null) faults.push(`${files.folder} has fixtures but no webhook.json and no transform.js`);
    return null;
  }
  if (webhookText == null) faults.push(`${files.webhook} is missing`);
  if (transform == null) faults.push(`${files.transform} is missing`);
  const webhook = webhookText == null ? null : readWebhookFile(files.webhook, webhookText, faults);
  const fixtures = fixturesText == null ? [] : readFixturesFile(files.fixtures, fixturesText, faults);
  return webhook && transform != null ? { ...webhook, slug, files, transform, fixtures } : null;
}

/**
 * The version of a release: every package has it, and the changelog begins with it. Changes that no version has yet are listed under
 * "Unreleased", above all versions.
 */

import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT, readManifest } from "./pack-packages.ts";

const UNRELEASED = "Unreleased";
const VERSION_TITLE = /^(\d+)\.(\d+)\.(\d+) - (\d{4}-\d{2}-\d{2})$/;
const GROUPS = ["Added", "Changed", "Deprecated", "Removed", "Fixed", "Security"];

/** One sentence for each fault. */
export function findVersionFaults(): string[] {
  const { version } = readManifest(".");
  const packages = globSync("packages/*", { cwd: ROOT });
  const others = packages.filter((folder) => readManifest(folder).version !== version);
  return [
    ...others.map((folder) => `${folder}/package.json has version ${readManifest(folder).version}, not ${version} of the repository`),
    ...changelogFaults(readFileSync(join(ROOT, "CHANGELOG.md"), "utf8"), version),
  ];
}

export function changelogFaults(text: string, version: string): string[] {
  const titles = [...text.matchAll(/^## (.*)$/gm)].map(([, title = ""]) => title);
  const versions = titles[0] === UNRELEASED ? titles.slice(1) : titles;
  const wrong = versions.filter((title) => !VERSION_TITLE.test(title) || Number.isNaN(Date.parse(title.split(" - ")[1] ?? "")));
  const groups = [...text.matchAll(/^### (.*)$/gm)].map(([, group = ""]) => group).filter((group) => !GROUPS.includes(group));
  const newest = versions[0]?.split(" - ")[0];
  return [
    ...wrong.map((title) => `CHANGELOG.md: "${title}" is not a version with a date, such as "0.3.0 - 2026-01-31"`),
    ...groups.map((group) => `CHANGELOG.md: "${group}" is none of ${GROUPS.join(", ")}`),
    ...(wrong.length === 0 ? orderFaults(versions) : []),
    ...(newest === version ? [] : [`CHANGELOG.md begins with version ${newest ?? "none"}, not ${version} of package.json`]),
  ];
}

/** Two versions may have one date. */
function orderFaults(versions: readonly string[]): string[] {
  const keys = versions.map((title) => {
    const [, major, minor, patch, date = ""] = VERSION_TITLE.exec(title) ?? [];
    return { title, date, number: [major, minor, patch].map((part = "") => part.padStart(6, "0")).join(".") };
  });
  return keys.flatMap((newer, index) => {
    const older = keys[index + 1];
    if (older === undefined || (newer.number > older.number && newer.date >= older.date)) return [];
    return [`CHANGELOG.md: "${newer.title}" stands above "${older.title}", which is not older`];
  });
}

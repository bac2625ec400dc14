/** The target that `--archive` names, with the credentials of the usual AWS_ variables. */

import { statSync } from "node:fs";
import { dirname, isAbsolute } from "node:path";
import { fileURLToPath } from "node:url";
import type { ArchiveTarget } from "./archive-target.ts";
import { folderTarget } from "./folder-target.ts";
import { s3Target } from "./s3-target.ts";

export type StorageVariables = Readonly<Record<string, string | undefined>>;

const REGION_DEFAULT = "us-east-1";

/** Throws an Error with a sentence if the credentials are missing, or if a file is where the folder should be. `url` was checked when the settings were read. */
export function openTarget(url: string, variables: StorageVariables): ArchiveTarget {
  const { protocol, hostname, pathname } = new URL(url);
  if (protocol === "file:") {
    const folder = fileURLToPath(url);
    if (!isAbsolute(folder)) throw new Error(`--archive must name a folder by its whole path, not ${url}`);
    if (isFileInTheWay(folder)) throw new Error(`--archive must name a folder, but ${folder} is, or is inside, something else`);
    return folderTarget(folder);
  }
  const region = variables.AWS_REGION ?? variables.AWS_DEFAULT_REGION ?? REGION_DEFAULT;
  const endpoint = variables.AWS_ENDPOINT_URL_S3 ?? variables.AWS_ENDPOINT_URL ?? `https://s3.${region}.amazonaws.com`;
  return s3Target({
    bucket: hostname,
    prefix: decodeURIComponent(pathname).replace(/^\/+|\/+$/g, ""),
    endpoint: endpoint.replace(/\/+$/, ""),
    region,
    accessKeyId: needed(variables, "AWS_ACCESS_KEY_ID"),
    secretAccessKey: needed(variables, "AWS_SECRET_ACCESS_KEY"),
    sessionToken: variables.AWS_SESSION_TOKEN,
  });
}

/** A folder that does not exist is created with its first file. One that cannot be reached now may be reached later. */
function isFileInTheWay(folder: string): boolean {
  try {
    const found = statSync(folder, { throwIfNoEntry: false });
    if (found) return !found.isDirectory();
  } catch {
    return false;
  }
  return dirname(folder) !== folder && isFileInTheWay(dirname(folder));
}

function needed(variables: StorageVariables, name: string): string {
  const value = variables[name];
  if (!value) throw new Error(`--archive with s3:// needs the variable ${name}`);
  return value;
}

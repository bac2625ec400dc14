/**
 * A webhook in the folder:
 *
 *   webhooks/stripe/webhook.json     its settings
 *   webhooks/stripe/transform.js     its transform
 *   webhooks/stripe/fixtures.json    requests and their expected events (optional)
 */

import { dirname, join } from "node:path";
import type { AcceptList } from "@inlet/protocol";
import type { ProviderFixture } from "@inlet/providers";

export type Fixture = ProviderFixture;

/** The folder of the webhooks, without --dir. */
export const FOLDER_DEFAULT = "webhooks";

/** The content of webhook.json, with defaults. */
export interface WebhookFile {
  /** The id of the webhook on the server; null before the entry is applied or pulled. */
  id: string | null;
  name: string;
  /** Null: the environment of the command, or the server's default. */
  environment: string | null;
  eventNames: AcceptList | null;
  ips: AcceptList | null;
  enabled: boolean;
  /** As the REST API accepts them, with names of environment variables as secrets. */
  verify: FileSettings | null;
  handshake: FileSettings | null;
  answer: FileSettings | null;
  mirror: FileSettings | null;
  reconcile: FileSettings | null;
}

export interface FileSettings {
  readonly [field: string]: unknown;
  secrets?: readonly string[];
}

export interface Entry extends WebhookFile {
  /** The name of its folder. */
  slug: string;
  files: EntryFiles;
  transform: string;
  fixtures: Fixture[];
  /** The values of the variables that `verify`, `handshake` and `reconcile` name, if they are set. */
  secretValues?: Readonly<Record<string, string | undefined>>;
}

export interface EntryFiles {
  folder: string;
  webhook: string;
  transform: string;
  fixtures: string;
}

export function filesOf(dir: string, slug: string): EntryFiles {
  const folder = join(dir, slug);
  return {
    folder,
    webhook: join(folder, "webhook.json"),
    transform: join(folder, "transform.js"),
    fixtures: join(folder, "fixtures.json"),
  };
}

/** What a printed command needs to find the webhooks again: nothing for the default folder. */
export function dirFlag({ folder }: EntryFiles): string {
  const dir = dirname(folder);
  if (dir === FOLDER_DEFAULT) return "";
  return /^[\w./\\:-]+$/.test(dir) ? ` --dir ${dir}` : ` --dir '${dir.replaceAll("'", "'\\''")}'`;
}

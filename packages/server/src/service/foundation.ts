/** What all other parts build on: who may sign in, the archive, the first keys, the disk budget, the directory and the catalogue. */

import { createEventIdGenerator, type EventIdGenerator } from "@inlet/protocol";
import type { Logger } from "pino";
import type { OidcRoutesParts } from "../api/access/oidc.ts";
import { endSessionsWithoutRole } from "../api/access/sessions-without-role.ts";
import type { Archive } from "../archive/archive.ts";
import type { StorageVariables } from "../archive/targets/open-target.ts";
import { Catalogue } from "../catalogue/catalogue.ts";
import type { Config } from "../config/config.ts";
import { createDedupWindow, type DedupWindow } from "../deduplicate/dedup-window.ts";
import { DiskGuard } from "../maintenance/disk-guard.ts";
import { Directory } from "../receive/senders/directory.ts";
import type { Store } from "../store/contract/index.ts";
import { openArchive } from "./archive.ts";
import { bootstrap, defaultEnvironmentOf, type NewKey } from "./bootstrap.ts";
import { connectOidc } from "./connect-oidc.ts";
import { diskBudgetBytes } from "./disk-budget.ts";
import { ChangeFollower } from "./follow-changes.ts";

export interface FoundationParts {
  config: Config;
  store: Store;
  /** Of the storage of the archive. */
  storageVariables: StorageVariables;
  /** Ends what the archive asks of its storage. */
  stopping: AbortSignal;
  log: Logger;
  now: () => number;
}

export interface Foundation {
  oidc: OidcRoutesParts["oidc"];
  /** Null: nothing is archived. */
  archive: Archive | null;
  createKeys(): Promise<NewKey[]>;
  /** The environment of requests that name none. */
  defaultEnvironment: string;
  dedupWindow: DedupWindow;
  /** Null: the disk may fill. */
  budgetBytes: number | null;
  /** Null without a budget. */
  disk: DiskGuard | null;
  ids: EventIdGenerator;
  changes: ChangeFollower;
  directory: Directory;
  catalogue: Catalogue;
}

export async function openFoundation({ config, store, storageVariables, stopping, log, now }: FoundationParts): Promise<Foundation> {
  const oidc = await connectOidc(config);
  // A store that is not writable must not prevent the start: such sessions are refused, removed or not.
  await endSessionsWithoutRole(store, oidc?.settings ?? null, log).catch((error) =>
    log.warn({ err: error }, "sessions of people without a role could not be removed"),
  );
  const archive = await openArchive({ config, store, variables: storageVariables, log, now, stopping });
  const createKeys = await bootstrap(store, config, log, now);
  const budgetBytes = await diskBudgetBytes(config, store);
  const changes = new ChangeFollower(store, log);
  const directory = new Directory(store);
  changes.follow("directory", directory);
  await directory.refresh();
  const catalogue = new Catalogue({ store, directory, log, now });
  changes.follow("catalogue", catalogue);
  await catalogue.refresh();
  return {
    oidc,
    archive,
    createKeys,
    defaultEnvironment: defaultEnvironmentOf(config),
    dedupWindow: createDedupWindow(config.dedupWindow),
    budgetBytes,
    disk: budgetBytes === null ? null : new DiskGuard({ store, budgetBytes, log }),
    ids: createEventIdGenerator(),
    changes,
    directory,
    catalogue,
  };
}

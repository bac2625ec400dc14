/** Opens the databases of an installation: the directory, and those that were added to it, each with connections of its own. */

import type { Logger } from "pino";
import { DIRECTORY_NAME, type PlacedDatabase, type Store } from "../store/contract/index.ts";
import { openPlacedStore } from "../store/placement/placed-store.ts";
import { openPostgresStore, type PostgresStoreOptions } from "../store/postgres/postgres-store.ts";
import { reachDatabase } from "../store/postgres/reach-database.ts";
import type { ReplicaStatus } from "../store/postgres/replica/replica.ts";
import { reportFaults } from "./report-faults.ts";

export interface PlacedPostgresOptions extends Omit<PostgresStoreOptions, "onReplica"> {
  /** Called when the read replica of a database is used, or not used any more. */
  onReplica?(status: ReplicaStatus, database: string): void;
  /** How long environments are found while the directory is away; absent: the usual. */
  cacheMs?: number;
}

/** Throws StoreRefused if the directory must not be used, or cannot be reached. */
export async function openPlacedPostgres(
  { cacheMs, onReplica = () => undefined, ...options }: PlacedPostgresOptions,
  log: Pick<Logger, "error" | "info">,
): Promise<Store> {
  const onOwnReplica = (status: ReplicaStatus) => onReplica(status, DIRECTORY_NAME);
  const directory = await openPostgresStore({ ...options, onReplica: onOwnReplica, isDirectory: true });
  const { listenUrl } = options;
  /** A member has the name and the time of the directory: leases and ages are the same everywhere. */
  const { readUrl: _, ...rest } = options;
  const shared = { ...rest, node: directory.storeNode, now: directory.storeNow };
  return openPlacedStore({
    directory,
    directoryLife: reachDatabase(options.url),
    open: ({ name, url, readUrl }: PlacedDatabase) =>
      openPostgresStore({
        ...shared,
        url,
        ...reportFaults(log, name),
        listenUrl: listenUrl === "off" ? "off" : url,
        ...(readUrl !== null && { readUrl }),
        onReplica: (status) => onReplica(status, name),
      }),
    life: ({ url }) => reachDatabase(url),
    onAway: (database, reason) =>
      log.error({ database, reason }, "the database cannot be used: requests of its environments are refused with 503 until it can"),
    onReachable: (database) => log.info({ database }, "the database can be reached"),
    cacheMs,
  });
}

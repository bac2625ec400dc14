/** Opens the store that the configuration names: the embedded one, or PostgreSQL. */

import type { Logger } from "pino";
import packageFile from "../../package.json" with { type: "json" };
import type { Config } from "../config/config.ts";
import { waitRules } from "../fan-out/waits.ts";
import { compileWhere } from "../fan-out/where.ts";
import type { CommitFigures, ReplicaReport, Store } from "../store/contract/index.ts";
import { openSqliteStore } from "../store/sqlite/sqlite-store.ts";
import { reportFaults } from "./report-faults.ts";

const WHERE_MODULE = new URL("../fan-out/where.ts", import.meta.url);

export async function openStore(config: Config, log: Logger, onCommitted: (figures: CommitFigures) => void): Promise<Store> {
  const options = {
    rules: waitRules,
    ...reportFaults(log, null),
    version: packageFile.version,
    onCommitted,
    encryptionKeys: config.encryptionKey,
  };
  const url = config.databaseUrl;
  if (!url) {
    if (config.databaseReadUrl !== null) log.warn("--database-read-url has no effect without --database-url");
    return openSqliteStore({ ...options, whereModule: WHERE_MODULE, folder: config.dataDir });
  }
  // The PostgreSQL client is loaded only if it is used.
  const { openPlacedPostgres } = await import("./open-placed-postgres.ts");
  const { databaseListenUrl, databaseConnections: connectionsMax, databaseTimeout: timeoutMs, pollInterval: pollIntervalMs } = config;
  const listenUrl = databaseListenUrl ?? url;
  const replica = { ...(config.databaseReadUrl !== null && { readUrl: config.databaseReadUrl }), onReplica: reportReplica(log) };
  return openPlacedPostgres({ ...options, ...replica, compileWhere, url, listenUrl, connectionsMax, timeoutMs, pollIntervalMs }, log);
}

function reportReplica(log: Logger): (status: Pick<ReplicaReport, "state" | "reason">, database: string) => void {
  return ({ state, reason }, database) => {
    if (state === "used") log.info({ database }, "the read replica answers lists, searches and figures");
    else log.warn({ database, state, reason }, "the read replica is not used: the primary answers lists, searches and figures");
  };
}

/** The shared store itself: one node of several, whose time is PostgreSQL's. */

import type { Store, StoreItself, StoreViews } from "../contract/index.ts";
import type { OpenNode } from "./nodes/open-node.ts";
import type { Replica } from "./replica/replica.ts";

export interface StoreItselfParts extends Pick<OpenNode, "node" | "database" | "notifications" | "heartbeat" | "hashes"> {
  replica: Replica | null;
  views: StoreViews;
  close(): Promise<void>;
  /** The store that this is a part of. */
  whole(): Store;
}

export function storeItself({
  node,
  database,
  notifications,
  heartbeat,
  hashes,
  replica,
  views,
  close,
  whole,
}: StoreItselfParts): StoreItself {
  let closed: Promise<void> | null = null;
  return {
    storeNode: node,
    storeIsShared: true,
    storeNow: () => database.now(),
    storeKeyHash: hashes.keyHash,
    storeLinkToken: hashes.linkToken,
    storeWatch: (listener) => notifications.topics.add(listener),
    async storeProbe() {
      heartbeat.refuseTooOld();
      await database.query("UPDATE probe SET written_at = written_at + 1");
    },
    async storeBytes() {
      const [row] = await database.read<{ bytes: number }>("SELECT pg_database_size(current_database()) AS bytes");
      return row?.bytes ?? 0;
    },
    storeReport: () => heartbeat.report(),
    storeDatabases: () => [{ no: 0, name: "directory", isReachable: true, store: whole() }],
    storeDatabaseOf: () => 0,
    storeReplica: () => replica?.report() ?? null,
    storeViews: views,
    stop: () => (closed ??= close()),
  };
}

/** The shared store itself: one node of several, whose time is PostgreSQL's. */

import type { Store, StoreItself } from "../contract/index.ts";
import type { OpenNode } from "./nodes/open-node.ts";

export interface StoreItselfParts extends Pick<OpenNode, "node" | "database" | "notifications" | "heartbeat" | "hashes"> {
  close(): Promise<void>;
  /** The store that this is a part of. */
  whole(): Store;
}

export function storeItself({ node, database, notifications, heartbeat, hashes, close, whole }: StoreItselfParts): StoreItself {
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
    stop: () => (closed ??= close()),
  };
}

/** The embedded store itself: one node, this process, whose clock is the time. */

import { statSync } from "node:fs";
import type { DatabaseSync } from "node:sqlite";
import { type Store, type StoreItself, type StoreReport, type StoreViews, viewsOf } from "../contract/index.ts";
import type { StoreHashes } from "../secrets/rows/key-hash.ts";
import type { GroupCommit } from "./group-commit.ts";
import { schemaKnown } from "./schema/migrate.ts";

const NODE = "local";

export interface StoreItselfParts {
  db: DatabaseSync;
  writer: GroupCommit;
  path: string;
  /** Version of this program, shown to people. */
  version: string;
  hashes: StoreHashes;
  views: StoreViews;
  close(): Promise<void>;
  /** The store that this is a part of. */
  whole(): Store;
}

export function storeItself({ db, writer, path, version, hashes, views, close, whole }: StoreItselfParts): StoreItself {
  const startedAt = Date.now();
  const probe = db.prepare("UPDATE probe SET written_at = written_at + 1");
  let closed: Promise<void> | null = null;
  return {
    storeNode: NODE,
    storeIsShared: false,
    storeNow: Date.now,
    storeKeyHash: hashes.keyHash,
    storeLinkToken: hashes.linkToken,
    storeWatch: () => () => {},
    storeViews: viewsOf(views),
    storeProbe: () => writer.submit(() => void probe.run()),
    storeBytes: async () => fileBytes(path),
    storeReport: async () => report(version, startedAt),
    storeDatabases: () => [{ no: 0, name: "directory", isReachable: true, store: whole() }],
    storeDatabaseOf: () => 0,
    storeReplica: () => null,
    stop: () => (closed ??= close()),
  };
}

/** The file and its write-ahead log. */
function fileBytes(path: string): number {
  return [path, `${path}-wal`].reduce((sum, file) => sum + (statSync(file, { throwIfNoEntry: false })?.size ?? 0), 0);
}

/** The node is alive because it responds. Opening the file migrated it to the known schema. */
function report(version: string, startedAt: number): StoreReport {
  const node = { name: NODE, version, since: startedAt, lastSeenAt: Date.now(), isGone: false };
  return { engine: "sqlite", schema: schemaKnown(), schemaKnown: schemaKnown(), answerMs: 0, nodes: [node] };
}

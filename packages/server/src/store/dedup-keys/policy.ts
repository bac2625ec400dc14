/** Under which key the duplicates of an event are found. */

import type { EventBatch } from "../contract/index.ts";

/** Hashes under the secret of the store. */
export type KeyHash = (key: string) => string;

/**
 * A sender's event has its dedup id as key. Keys of the service's own events are hashes that only the store can compute: no event that
 * somebody sends makes one of them a duplicate, and none of them makes an event that somebody sends a duplicate.
 */
export function dedupKeyOf({ source }: Pick<EventBatch, "source">, dedupId: string, hash: KeyHash): string {
  return source.kind === "internal" ? hash(`internal event ${dedupId}`) : dedupId;
}

/** A change by another node takes effect here within a moment. */

import type { Logger } from "pino";
import type { Store, StoreTopic } from "../store/contract/index.ts";

export function followChanges(
  store: Pick<Store, "storeWatch">,
  kept: Record<StoreTopic, { refresh(): Promise<void> }>,
  log: Logger,
): () => void {
  return store.storeWatch((topic) => {
    kept[topic]
      .refresh()
      .catch((error) => log.warn({ err: error, topic }, "changes by another node could not be read; this will be retried"));
  });
}

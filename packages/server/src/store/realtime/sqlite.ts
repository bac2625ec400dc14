/** Realtime messages within one process: there are no other nodes. */

import type { RealtimeListener, RealtimeStore } from "../contract/index.ts";

export function realtimeStore(): RealtimeStore {
  const listeners = new Set<RealtimeListener>();
  return {
    async realtimePublish(message) {
      for (const listener of listeners) listener(message);
    },
    realtimeWatch(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}

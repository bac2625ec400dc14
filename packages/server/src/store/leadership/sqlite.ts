/** Leadership in SQLite: only one process uses the store, so it leads whatever it asks for. */

import type { LeadershipStore } from "../contract/index.ts";

export function leadershipStore(): LeadershipStore {
  return { leadershipTake: async () => true, leadershipResign: async () => undefined };
}

/** An embedded store is one file: its environments are placed nowhere else. */

import type { DatabaseStore } from "../contract/index.ts";

export function databaseStore(): DatabaseStore {
  return {
    databaseList: async () => [],
    databaseAdd: async () => ({
      refused: "databases_unsupported",
      reason: "Adding a database needs PostgreSQL as the store: this service uses an embedded one. See --database-url.",
    }),
  };
}

/** An embedded store has one place for environments: none is moved. */

import type { EnvironmentMoveStore } from "../contract/index.ts";

export function environmentMoveStore(): EnvironmentMoveStore {
  return {
    environmentMoveInsert: async () => false,
    environmentMoveList: async () => [],
    environmentMoveAdvance: async () => null,
  };
}

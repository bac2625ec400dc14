/** A PostgreSQL database of a simulation, which nodes share. What a killed node held is free when its leases are over. */

import { waitRules } from "../../src/fan-out/waits.ts";
import type { Store } from "../../src/store/contract/index.ts";
import { openPostgresStore } from "../../src/store/postgres/postgres-store.ts";
import { readAll, type SimStores } from "./folders.ts";

const CONNECTIONS_MAX = 4;

export function createDatabaseStores(url: string): SimStores {
  const left: Promise<void>[] = [];
  return {
    open: () =>
      openPostgresStore({ url, rules: waitRules, connectionsMax: CONNECTIONS_MAX, onFault: () => undefined, onRecovery: () => undefined }),
    // What it had begun to write may still be written, as after a connection that broke.
    crash: (store: Store) => void left.push(store.stop()),
    close: (store) => store.stop(),
    async read({ store, environmentId }) {
      const read = await readAll(store, environmentId);
      left.push(store.stop());
      return { ...read, broken: [] };
    },
    async remove() {
      await Promise.all(left);
    },
  };
}

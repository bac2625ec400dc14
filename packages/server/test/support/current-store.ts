/** The store of the test that is running. Subtests and everything else that a test begins belong to its store, too. */

import { AsyncLocalStorage } from "node:async_hooks";

export type StoreKind = "sqlite" | "postgres";

export const storeOfTest = new AsyncLocalStorage<StoreKind>();

/** Of the test that calls this; the embedded one in a test that is not for both. */
export function currentStore(): StoreKind {
  return storeOfTest.getStore() ?? "sqlite";
}

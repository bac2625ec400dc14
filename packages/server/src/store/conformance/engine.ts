import type { TestContext } from "node:test";
import type { Store } from "../contract/index.ts";

/** A store of its own for one test, or a number of them in turn on the same data. */
export interface Engine {
  name: string;
  /** The number of the database that holds new environments; absent: 0, the directory. */
  databaseNo?: number;
  /** Opens a new, empty store with SAMPLE_RULES, which ends with the test. `reopen` stops it and opens it again. */
  open(t: TestContext): Promise<{ store: Store; reopen(): Promise<Store> }>;
}

import type { TestContext } from "node:test";
import type { Store } from "../contract/index.ts";

/** A store for one test, or a number of them in turn on the same data. */
export interface Engine {
  name: string;
  /** The number of the database that holds new environments; absent: 0, the directory. */
  databaseNo?: number;
  /** An empty store with SAMPLE_RULES, which only this test uses until its end. `reopen` stops it and opens it again. */
  open(t: TestContext): Promise<{ store: Store; reopen(): Promise<Store> }>;
}

/** What every engine must do: the definition of the store. Each engine's test file runs this with its own way to open a store. */

import type { TestContext } from "node:test";
import type { Store } from "../contract/index.ts";
import { dedupConformance } from "./dedup.ts";
import { environmentConformance } from "./environments.ts";
import { eventAppendConformance } from "./event-append.ts";
import { eventReadConformance } from "./event-read.ts";
import { keyConformance } from "./keys.ts";
import { webhookConformance } from "./webhooks.ts";

/** A store of its own for one test, or a number of them in turn on the same data. */
export interface Engine {
  name: string;
  /** Opens a new, empty store, which ends with the test. `reopen` stops it and opens it again. */
  open(t: TestContext): Promise<{ store: Store; reopen(): Promise<Store> }>;
}

export function storeConformance(engine: Engine): void {
  eventAppendConformance(engine);
  eventReadConformance(engine);
  dedupConformance(engine);
  environmentConformance(engine);
  keyConformance(engine);
  webhookConformance(engine);
}

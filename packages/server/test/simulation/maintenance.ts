/** The maintenance of one process: what removes old data, as the service does. */

import type { Logger } from "pino";
import type { Config } from "../../src/config/config.ts";
import { createDedupWindow } from "../../src/deduplicate/dedup-window.ts";
import { StoredBytesMeter } from "../../src/maintenance/stored-bytes.ts";
import { createEventTypeCounter } from "../../src/observe/event-type-counter.ts";
import { type BackgroundService, createMaintenance } from "../../src/service/maintenance.ts";
import type { Store } from "../../src/store/contract/index.ts";
import { now } from "./virtual-time.ts";

export function createSimMaintenance(config: Config, store: Store, log: Logger, everyMs: number): BackgroundService[] {
  const dedupWindow = createDedupWindow(config.dedupWindow);
  const meter = new StoredBytesMeter({ store, now, elapsed: now });
  // Events are removed when they are counted.
  const personHasRole = () => true;
  const common = { config, store, personHasRole, dedupWindow, meter, log, now, everyMs };
  return [...createMaintenance({ ...common, budgetBytes: null, disk: null, archive: null }), createEventTypeCounter({ store, log })];
}

/** The maintenance of one process: what removes old data, as the service does. */

import type { Logger } from "pino";
import type { Config } from "../../src/config/config.ts";
import { createDedupWindow } from "../../src/deduplicate/dedup-window.ts";
import { StoredBytesMeter } from "../../src/maintenance/stored-bytes.ts";
import { createEventTypeCounter } from "../../src/observe/event-type-counter.ts";
import { type BackgroundService, createMaintenance, type MaintenanceParts } from "../../src/service/maintenance.ts";
import type { Store } from "../../src/store/contract/index.ts";
import { now } from "./virtual-time.ts";

export interface SimMaintenanceParts extends Pick<MaintenanceParts, "functions"> {
  config: Config;
  store: Store;
  log: Logger;
  everyMs: number;
}

export function createSimMaintenance({ config, store, functions, log, everyMs }: SimMaintenanceParts): BackgroundService[] {
  const dedupWindow = createDedupWindow(config.dedupWindow);
  const meter = new StoredBytesMeter({ store, now, elapsed: now });
  // Events are removed when they are counted.
  return [
    ...createMaintenance({ config, store, dedupWindow, budgetBytes: null, disk: null, meter, functions, archive: null, log, now, everyMs }),
    createEventTypeCounter({ store, log }),
  ];
}

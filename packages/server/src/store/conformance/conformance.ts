/** What every engine must do: the definition of the store. Each engine's test file runs this with its own way to open a store. */

import { appConformance } from "./apps.ts";
import { dedupConformance } from "./dedup.ts";
import type { Engine } from "./engine.ts";
import { environmentConformance } from "./environments.ts";
import { eventAppendConformance } from "./event-append.ts";
import { eventReadConformance } from "./event-read.ts";
import { functionStartConformance } from "./function-starts.ts";
import { keyConformance } from "./keys.ts";
import { queueConformance } from "./queue.ts";
import { runAdvanceConformance } from "./run-advance.ts";
import { runReadConformance } from "./run-read.ts";
import { runStartConformance } from "./run-start.ts";
import { runWaitConformance } from "./run-waits.ts";
import { webhookConformance } from "./webhooks.ts";

export function storeConformance(engine: Engine): void {
  eventAppendConformance(engine);
  eventReadConformance(engine);
  dedupConformance(engine);
  environmentConformance(engine);
  keyConformance(engine);
  webhookConformance(engine);
  appConformance(engine);
  queueConformance(engine);
  runStartConformance(engine);
  runAdvanceConformance(engine);
  runWaitConformance(engine);
  functionStartConformance(engine);
  runReadConformance(engine);
}

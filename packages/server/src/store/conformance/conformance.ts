/** What every engine must do: the definition of the store. Each engine's test file runs this with its own way to open a store. */

import { auditConformance } from "./audit-log.ts";
import { dedupConformance } from "./dedup.ts";
import type { Engine } from "./engine.ts";
import { environmentConformance } from "./environments.ts";
import { eventAppendConformance } from "./event-append.ts";
import { eventReadConformance } from "./event-read.ts";
import { eventTypeConformance } from "./event-types.ts";
import { idempotencyConformance } from "./idempotency-keys.ts";
import { keyConformance } from "./keys.ts";
import { sessionConformance } from "./sessions.ts";
import { trafficConformance } from "./traffic.ts";
import { webhookConformance } from "./webhooks.ts";

export function storeConformance(engine: Engine): void {
  eventAppendConformance(engine);
  eventReadConformance(engine);
  dedupConformance(engine);
  environmentConformance(engine);
  keyConformance(engine);
  sessionConformance(engine);
  auditConformance(engine);
  idempotencyConformance(engine);
  eventTypeConformance(engine);
  trafficConformance(engine);
  webhookConformance(engine);
}

/** Plans a change of a declared schema: a pure function that both engines call. */

import type { EventSchema, EventSchemaPut } from "../contract/index.ts";

export interface EventSchemaPlan {
  written: EventSchema;
  /** The schema differs: it is stored under a new version. */
  isNewVersion: boolean;
}

export function planEventSchema(before: EventSchema | null, change: EventSchemaPut): EventSchemaPlan {
  const { environmentId, name, now } = change;
  const kept = before ?? { schema: null, mode: "observe", description: null, version: 0, faults: 0, lastFaultAt: null };
  const { schema = kept.schema, mode = kept.mode, description = kept.description } = change;
  const isNewVersion = schema !== kept.schema;
  const version = kept.version + (isNewVersion ? 1 : 0);
  const { faults, lastFaultAt } = kept;
  return { written: { environmentId, name, schema, mode, description, version, updatedAt: now, faults, lastFaultAt }, isNewVersion };
}

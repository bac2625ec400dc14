/** Events and batches for the suite: plain unless a test says otherwise. */

import { createEventIdGenerator } from "@inlet/protocol";
import type { Environment, EventBatch, NewEvent, Store } from "../contract/index.ts";

const ids = createEventIdGenerator();

export function sampleEvent(changes: Partial<NewEvent> = {}): NewEvent {
  return { id: ids.next(1_000), name: "shop/order.created", ts: 1_000, dedupId: null, data: '{"n":1}', extras: null, ...changes };
}

export function sampleBatch(environment: Environment, events: NewEvent[], changes: Partial<EventBatch> = {}): EventBatch {
  return {
    environmentId: environment.id,
    receivedAt: 1_000,
    source: { kind: "key", id: "key_1" },
    duplicateSince: 0,
    idsFromSender: false,
    events,
    ...changes,
  };
}

export async function makeEnvironment(store: Store, name = "production"): Promise<Environment> {
  const environment = await store.environmentInsert({ name, kind: "custom", createdAt: 1, bodyBytesMax: null });
  if (!environment) throw new Error(`${name} exists already`);
  return environment;
}

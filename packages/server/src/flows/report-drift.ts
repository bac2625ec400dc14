/** Reports schema drift as an internal event, for functions and people: once for each field and type in 24 hours. */

import type { EnvironmentId, EventIdGenerator } from "@inlet/protocol";
import type { Drift } from "../catalogue/infer-shape.ts";
import type { EventStore } from "../store/contract/index.ts";
import type { FunctionsPart } from "./event-life.ts";

export const DRIFT_EVENT = "inlet/event-type.drifted";
const REPEATED_MS = 86_400_000;

export interface ReportDriftParts {
  store: EventStore;
  functions: Pick<FunctionsPart, "plan" | "lease" | "take">;
  ids: EventIdGenerator;
  now(): number;
}

export async function reportDrift(parts: ReportDriftParts, environmentId: EnvironmentId, eventName: string, drift: Drift): Promise<void> {
  const { store, functions, ids, now } = parts;
  const receivedAt = now();
  const { kind, path, type, eventId } = drift;
  const event = {
    id: ids.next(receivedAt),
    name: DRIFT_EVENT,
    ts: receivedAt,
    extras: null,
    dedupId: `drift ${eventName} ${path} ${type}`.slice(0, 512),
    data: JSON.stringify({ event: eventName, kind, path, type, eventId, at: new Date(drift.at).toISOString() }),
  };
  const { leased } = await store.eventAppend({
    environmentId,
    receivedAt,
    source: { kind: "internal", id: "catalogue" },
    idsFromSender: false,
    lease: functions.lease(),
    duplicateSince: receivedAt - REPEATED_MS,
    events: [functions.plan(environmentId, event, receivedAt)],
  });
  functions.take(leased);
}

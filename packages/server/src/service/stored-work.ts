/** Internal events and signals: stored, and what they start is taken by this node. */

import { type EventIdGenerator, type FunctionNo, isEventId, type RunId } from "@inlet/protocol";
import type { SignalsRoutesParts } from "../api/runs/signals-routes.ts";
import { internalBatch } from "../execute/steps/end-events.ts";
import type { SendingRun } from "../flows/event-life.ts";
import type { ClaimedEntry, Environment, EventBatch, Lease, Store } from "../store/contract/index.ts";
import type { Planning } from "./function-planning.ts";

export interface StoredWork {
  /** An internal event with what it starts, to be stored. This node takes what is leased to it then. */
  internal(event: { environmentId: Environment["id"]; name: string; dedupId: string; data: string }): EventBatch;
  signals: SignalsRoutesParts["signals"];
  /** The run of this environment that sends an event. */
  sendingRun(environmentId: Environment["id"], runId: string): Promise<SendingRun | null>;
}

interface StoredWorkParts extends Pick<Planning, "plan"> {
  store: Store;
  eventIds: EventIdGenerator;
  lease(): Lease;
  take(entries: readonly ClaimedEntry[]): void;
  functionId(no: FunctionNo): string;
  now(): number;
}

export function storedWork(parts: StoredWorkParts): StoredWork {
  const { store, plan, lease, take, eventIds, functionId, now } = parts;
  return {
    internal({ environmentId, name, dedupId, data }) {
      const at = now();
      const event = plan(environmentId, { id: eventIds.next(at), name, ts: at, dedupId, data, extras: null }, at);
      return { ...internalBatch(environmentId, at, [event]), lease: lease() };
    },
    signals: {
      async send({ id: environmentId }, signal, data) {
        const value = `{"data":{"signal":${JSON.stringify(signal)},"data":${data}}}`;
        const { runId, leased } = await store.signalSend({ environmentId, signal, value, now: now(), lease: lease() });
        take(leased);
        return runId;
      },
    },
    async sendingRun(environmentId, runId) {
      const run = isEventId(runId) ? await store.runFind({ id: runId as string as RunId, environmentId }) : null;
      if (!run) return null;
      const { functionNo, eventSequence: sequence } = run;
      const trace = async () => (await store.eventAt({ environmentId, sequence }))?.trace ?? null;
      return { id: run.id, source: { kind: "function", id: functionId(functionNo) }, trace };
    },
  };
}

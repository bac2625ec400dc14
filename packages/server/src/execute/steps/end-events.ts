/** The internal events that report a run's end: failures and cancellations always, completions if a function subscribes to them. */

import { type EnvironmentId, type EventIdGenerator, eventJson, type FunctionNo } from "@inlet/protocol";
import type { EventBatch, HeaderSet, NewEvent, RunEnd, RunError, RunState } from "../../store/contract/index.ts";
import { deferredEvents } from "./deferred.ts";
import { emittedBy } from "./emitted-by.ts";
import type { EndEvents } from "./run-changes.ts";

const FINISHED = "inngest/function.finished";
const CANCELLED = "inngest/function.cancelled";
/** By the headers of the function's app: ours, or those of published SDKs. */
const FAILED: Record<HeaderSet, string> = { service: "inlet/function.failed", inngest: "inngest/function.failed" };
/** Functions that handle these never receive their own. */
const ENDS: readonly string[] = [FINISHED, ...Object.values(FAILED)];
const INTERNAL_SOURCE = { kind: "internal", id: "executor" } as const;

export interface EndEventsParts {
  functionId(no: FunctionNo): string;
  headersOf(no: FunctionNo): HeaderSet;
  isSubscribed(environmentId: EnvironmentId, eventName: string): boolean;
  /** Adds what the event starts. */
  plan(environmentId: EnvironmentId, event: NewEvent, now: number): NewEvent;
  eventIds: EventIdGenerator;
}

export function createEndEvents(parts: EndEventsParts): EndEvents {
  return (state, end) => {
    const { environmentId, functionNo } = state.run;
    const deferred = startDeferred(parts, state, end.endedAt);
    const failed = FAILED[parts.headersOf(functionNo)];
    const wanted = end.status === "completed" ? [] : [end.status === "failed" ? failed : CANCELLED];
    if (parts.isSubscribed(environmentId, FINISHED)) wanted.push(FINISHED);
    if (wanted.length === 0) return deferred;
    const startedBy = new Set(state.events().map(({ name }) => name));
    // A function that handles ends does not receive its own, or it could start itself without end. Other ends of a function that
    // handles cancellations are reported: the runs that they start report nothing.
    if (ENDS.some((name) => startedBy.has(name))) return deferred;
    if (end.status === "cancelled" && startedBy.has(CANCELLED)) return deferred;
    const data = endData(parts.functionId(functionNo), state, end);
    const events = wanted.map((name): NewEvent => {
      const id = parts.eventIds.next(end.endedAt);
      // A run ends once: an id for deduplication would only be in the way of a sender's events with the same one.
      const event = { id, name, ts: end.endedAt, dedupId: null, data, extras: null, ...emittedBy(state) };
      return parts.plan(environmentId, event, end.endedAt);
    });
    return [...deferred, internalBatch(environmentId, end.endedAt, events)];
  };
}

function startDeferred({ functionId, eventIds, plan }: EndEventsParts, state: RunState, now: number): EventBatch[] {
  const { environmentId, functionNo } = state.run;
  const events = deferredEvents(state, functionId(functionNo), eventIds, now).map((event) => plan(environmentId, event, now));
  return events.length === 0 ? [] : [internalBatch(environmentId, now, events)];
}

export function internalBatch(environmentId: EnvironmentId, receivedAt: number, events: readonly NewEvent[]): EventBatch {
  return { environmentId, receivedAt, source: INTERNAL_SOURCE, duplicateSince: 0, idsFromSender: false, events };
}

function endData(functionId: string, { run, events }: RunState, end: RunEnd): string {
  const texts = events().map(eventJson);
  // The result of a failed run is the error reported by its SDK.
  const error = end.error && errorText(end.error);
  const outcome = error ? `"error":${error},"result":${end.output ?? error}` : `"result":${end.output}`;
  return [
    `{"function_id":${JSON.stringify(functionId)},"run_id":${JSON.stringify(run.id)}`,
    `"event":${texts[0] ?? "null"},"events":[${texts.join(",")}]`,
    outcome,
    `"_inngest":{"status":${JSON.stringify(end.status === "completed" ? "Completed" : end.status === "failed" ? "Failed" : "Cancelled")}}}`,
  ].join(",");
}

/** SDKs read the message under both names. */
function errorText({ name, message, stack }: RunError): string {
  return JSON.stringify({ error: message, name, message, stack: stack ?? "" });
}

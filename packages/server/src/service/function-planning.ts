/** What an event starts, with its trace, and the events that the end of a run causes. */

import { createEventIdGenerator, type FunctionNo } from "@inlet/protocol";
import { createEndEvents } from "../execute/steps/end-events.ts";
import { FanOut } from "../fan-out/fan-out.ts";
import type { Registry } from "../fan-out/registry.ts";
import { RunSpans } from "../observe/telemetry/run-spans.ts";
import type { Environment, NewEvent } from "../store/contract/index.ts";
import type { FunctionsParts } from "./functions-parts.ts";

export interface Planning {
  fanOut: FanOut;
  /** Null: traces are not exported. */
  spans: RunSpans | null;
  /** The event with the trace that it continues. */
  traced(event: NewEvent): NewEvent;
  /** Adds to an event what it starts. */
  plan(environmentId: Environment["id"], event: NewEvent, now: number): NewEvent;
  endEvents: ReturnType<typeof createEndEvents>;
}

export interface PlanningParts extends Pick<FunctionsParts, "store" | "directory" | "tracing" | "eventIds" | "log" | "clock"> {
  registry: Registry;
  functionId(no: FunctionNo): string;
}

export function createPlanning({ store, directory, tracing, eventIds, log, clock, registry, functionId }: PlanningParts): Planning {
  const onFault = (id: string, fault: string) => log.warn({ function: id, fault }, "a trigger's expression has no value for an event");
  const fanOut = new FanOut({ registry, runIds: createEventIdGenerator(), keyHash: store.storeKeyHash, onFault });
  const environmentName = (id: Environment["id"]) => directory.environment(id)?.name ?? String(id);
  const spans = tracing && new RunSpans({ tracing, functionId, environmentName, now: clock.now });
  const traced: Planning["traced"] = (event) => spans?.traced(event) ?? event;
  const plan: Planning["plan"] = (environmentId, event, at) => fanOut.plan(environmentId, traced(event), at);
  const isSubscribed = (id: Environment["id"], name: string) => registry.candidates(id, name).length > 0;
  const headersOf = (no: FunctionNo) => registry.function(no)?.app.headers ?? "inngest";
  return { fanOut, spans, traced, plan, endEvents: createEndEvents({ functionId, headersOf, isSubscribed, plan, eventIds }) };
}

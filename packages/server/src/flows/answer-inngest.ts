/** The functions behind Inngest's REST API: finding functions and runs, cancelling many, invoking one. */

import { type EnvironmentId, type EventId, type EventIdGenerator, stableUuid } from "@inlet/protocol";
import type { Logger } from "pino";
import type { Invoked } from "../api/inngest/apps-routes.ts";
import type { PeerFunction } from "../api/inngest/cancellations-routes.ts";
import type { PeerApiParts } from "../api/inngest/peer-api.ts";
import type { DedupWindow } from "../deduplicate/dedup-window.ts";
import { BulkCancellations } from "../execute/bulk-cancellations.ts";
import { type Clock, sleepOn } from "../execute/clock.ts";
import type { Executor } from "../execute/executor.ts";
import { internalBatch } from "../execute/steps/end-events.ts";
import { invokedData } from "../execute/steps/invoked-data.ts";
import { cancelRun, type EndEvents } from "../execute/steps/run-changes.ts";
import { compileExpression, isFault } from "../fan-out/expressions.ts";
import type { FanOut } from "../fan-out/fan-out.ts";
import type { RegisteredFunction, Registry } from "../fan-out/registry.ts";
import { eventValue } from "../fan-out/waits.ts";
import type { NewEvent, RunSummary, Store } from "../store/contract/index.ts";

export type InngestResponses = Pick<
  PeerApiParts,
  "functionOf" | "functionNamed" | "functionWithId" | "expressionFault" | "cancelMany" | "apps" | "functions" | "invoke"
> & { start(): void; stop(): Promise<void> };

export interface InngestResponsesParts {
  store: Store;
  registry: Registry;
  fanOut: FanOut;
  executor: Executor;
  endEvents: EndEvents;
  eventIds: EventIdGenerator;
  dedupWindow: DedupWindow;
  clock: Clock;
  log: Logger;
}

/** How long an invocation waits for a function whose rules about starts decide whether it runs. */
const START_WAIT_MS = 1_000;
const START_POLL_MS = 20;

export function createInngestResponses(parts: InngestResponsesParts): InngestResponses {
  const { store, registry, executor, endEvents, clock, log } = parts;
  const cancellations = new BulkCancellations({
    store,
    clock,
    log,
    functionNos: (environmentId, id) =>
      registry
        .everyFunction(environmentId)
        .filter((known) => known.id === id)
        .map(({ no }) => no),
    matches: (expression, run) => matches(store, expression, run),
    cancel: (run, { id }) =>
      executor.change(run, (state) => cancelRun(state, clock.now(), endEvents, `It was cancelled by the bulk cancellation ${id}.`)),
  });
  return {
    functionOf: (no) => {
      const known = registry.function(no);
      return { id: known?.id ?? "unknown", uuid: known?.uuid ?? stableUuid(`function/${no}`) };
    },
    functionNamed: (environment, app, id) => found(functionNamed(registry, environment.id, app, id)),
    functionWithId: (environment, id) => found(registry.everyFunction(environment.id).find((known) => known.id === id)),
    expressionFault(text) {
      const compiled = compileExpression(text);
      if (isFault(compiled)) return compiled.fault;
      return compiled.usesAsync ? "it must not use async" : null;
    },
    cancelMany: (cancellation) => cancellations.create(cancellation),
    apps: ({ id }) => {
      const known = registry.functions(id);
      return registry.apps(id).map((app) => ({ app, functionCount: known.filter((one) => one.app.no === app.no).length }));
    },
    functions: ({ id }) =>
      registry
        .functions(id)
        .map(({ stored, app, uuid, config }) => ({ stored, app, uuid, appUuid: stableUuid(app.id), config: config.raw })),
    invoke: (environment, functionId, data, key) => invoke(parts, environment.id, functionId, data, key),
    start: () => cancellations.start(),
    stop: () => cancellations.stop(),
  };
}

function functionNamed(registry: Registry, environmentId: EnvironmentId, app: string, id: string): RegisteredFunction | undefined {
  const known = registry.functions(environmentId).filter((one) => one.app.name === app);
  return known.find((one) => one.id === `${app}-${id}`) ?? known.find((one) => one.id === id);
}

function found(known: RegisteredFunction | undefined): PeerFunction | null {
  return known ? { id: known.id, uuid: known.uuid, name: known.name, appUuid: stableUuid(known.app.id) } : null;
}

/** An expression without a value for the event does not match it. */
async function matches(store: Store, expression: string, { environmentId, eventSequence }: RunSummary): Promise<boolean> {
  const event = await store.eventAt({ environmentId, sequence: eventSequence });
  const compiled = compileExpression(expression);
  return event !== null && !isFault(compiled) && compiled.matches({ event: eventValue(event) }) === true;
}

async function invoke(
  { store, registry, fanOut, executor, eventIds, dedupWindow, clock }: InngestResponsesParts,
  environmentId: EnvironmentId,
  functionId: string,
  data: string,
  idempotencyKey: string | null,
): Promise<Invoked> {
  const target = registry.functionWithId(environmentId, functionId);
  if (!target) throw new Error(`the function ${functionId} was removed a moment ago`);
  const at = clock.now();
  const event: NewEvent = {
    id: eventIds.next(at),
    name: "inngest/function.invoked",
    ts: at,
    extras: null,
    dedupId: idempotencyKey === null ? null : `${functionId}/${idempotencyKey}`,
    data: invokedData(data, JSON.stringify({ fn_id: functionId, type: "api" })),
  };
  const begun = fanOut.begin(target, event, at, at);
  const started = "run" in begun ? { ...event, runs: [begun.run] } : { ...event, starts: [begun.start] };
  const batch = { ...internalBatch(environmentId, at, [started]), duplicateSince: dedupWindow.duplicateSince(at), lease: executor.lease() };
  const { ids, leased } = await store.eventAppend(batch);
  executor.take(leased);
  const kept = ids[0] as EventId;
  if (kept === event.id && "run" in begun) return { kind: "started", runId: begun.run.id };
  const runId = await firstRun(store, environmentId, kept, clock);
  return runId ? { kind: kept === event.id ? "started" : "repeated", runId } : { kind: "held", rule: startRule(target) };
}

async function firstRun(store: Store, environmentId: EnvironmentId, eventId: EventId, clock: Clock): Promise<RunSummary["id"] | null> {
  const until = clock.now() + START_WAIT_MS;
  for (;;) {
    const [run] = (await store.runList({ environmentId, eventId, limit: 1 })).runs;
    if (run) return run.id;
    if (clock.now() >= until) return null;
    await sleepOn(clock, START_POLL_MS);
  }
}

function startRule({ config }: RegisteredFunction): string {
  const rules = { "rate limit": config.rateLimit, debounce: config.debounce, batch: config.batch, singleton: config.singleton };
  return Object.entries(rules).find(([, rule]) => rule !== null)?.[0] ?? "function";
}

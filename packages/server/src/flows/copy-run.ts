/**
 * Copies of runs: a dev server starts a copy with the same events and the results of the steps before the failure, so that it comes to
 * the step that failed without repeating the work before it.
 */

import {
  type EnvironmentId,
  type EventIdGenerator,
  eventJson,
  joinMembers,
  jsonMembers,
  Refusal,
  type RunId,
  type StepId,
} from "@inlet/protocol";
import type { CopiedStep, RunCopy } from "../api/runs/run-copy-routes.ts";
import type { Executor } from "../execute/executor.ts";
import { STATE_BYTES_MAX } from "../execute/steps/run-limits.ts";
import { type FanOut, once } from "../fan-out/fan-out.ts";
import type { Registry } from "../fan-out/registry.ts";
import { eventValue } from "../fan-out/waits.ts";
import { parseEvents } from "../receive/bodies/parse-events.ts";
import type { KeptStep, RunDetails, Store, StoredEvent } from "../store/contract/index.ts";

/** JSON text; null if an event of the run no longer exists. */
export async function copyOfRun(store: Store, run: RunDetails, functionId: string): Promise<string | null> {
  const { environmentId, eventSequence, eventSequences } = run;
  const events = await eventsAt(store, environmentId, eventSequences ?? [eventSequence]);
  if (!events) return null;
  const { kept, stoppedAt } = stepsBeforeFailure(run);
  const facts = JSON.stringify({ runId: run.id, status: run.status, function: functionId, error: shortError(run.error) });
  const steps = kept.map((step) => stepText(step)).join(",");
  const parts = [
    `"output":${run.output ?? "null"}`,
    `"events":[${events.map(eventJson).join(",")}]`,
    `"steps":[${steps}]`,
    `"stoppedAt":${stoppedAt ? stepText(stoppedAt) : "null"}`,
  ];
  return `${facts.slice(0, -1)},${parts.join(",")}}`;
}

type EndedStep = RunDetails["steps"][number] & { value: string; donePosition: number };

/**
 * The steps that a copy begins with, in the order in which they ended, and the step that it has to run again: the one whose error failed
 * the run. A failure that the function handled stays a result. If the function itself failed, it stopped at no step.
 */
export function stepsBeforeFailure({ status, error, steps }: Pick<RunDetails, "status" | "error" | "steps">): {
  kept: EndedStep[];
  stoppedAt: EndedStep | null;
} {
  const ended = steps
    .filter((step): step is EndedStep => step.value !== null && step.donePosition !== null && step.kind !== "defer")
    .sort((a, b) => a.donePosition - b.donePosition);
  const last = ended.at(-1);
  const failed = ended.findLast((step) => step.status === "failed" && messageOf(step.value) === error?.message);
  const stoppedAt = status !== "failed" ? null : (failed ?? (last?.status === "failed" ? last : null));
  return { kept: ended.filter((step) => step !== stoppedAt), stoppedAt };
}

/** A step that failed has a result of the form `{"error":…}`. */
function messageOf(value: string): string | undefined {
  return (JSON.parse(value) as { error?: { message?: string } }).error?.message;
}

function stepText({ id, name, kind, value }: EndedStep): string {
  return `${JSON.stringify({ id, name, kind }).slice(0, -1)},"value":${value}}`;
}

/** Stacks name the files of the machine that ran the function. */
function shortError(error: RunDetails["error"]): { name: string; message: string } | null {
  return error && { name: error.name, message: error.message };
}

async function eventsAt(store: Store, environmentId: EnvironmentId, sequences: readonly number[]): Promise<StoredEvent[] | null> {
  const events = await Promise.all(sequences.map((sequence) => store.eventAt({ environmentId, sequence })));
  return events.every((event) => event !== null) ? events : null;
}

export interface StartCopyParts {
  store: Store;
  registry: Registry;
  fanOut: FanOut;
  executor: Executor;
  eventIds: EventIdGenerator;
  now(): number;
}

/** Its events start nothing else, and are never duplicates, so that a run can be copied more than once. */
export async function startCopy(parts: StartCopyParts, environmentId: EnvironmentId, copy: RunCopy): Promise<RunId | Refusal> {
  const { store, registry, fanOut, executor, now } = parts;
  const target = registry.functionWithId(environmentId, copy.function);
  if (!target)
    return new Refusal("function_not_found", `There is no function ${copy.function} here. Start the app that has it, and sync it.`);
  const bytes = copy.steps.reduce((sum, { value }) => sum + value.length, 0);
  if (bytes > STATE_BYTES_MAX) return new Refusal("request_invalid", "The results of the steps are larger than those of a run may be.");
  const at = now();
  const events = await storeEvents(parts, environmentId, copy, at);
  if (events instanceof Refusal) return events;
  const [first] = events;
  if (!first) return new Refusal("store_unavailable", "The events of the copy could not be read. Try again in a moment.");
  const { sequence: eventSequence } = first;
  const run = {
    ...fanOut.newRun(
      target,
      once(() => eventValue(first)),
      at,
      at,
    ),
    steps: copy.steps.map((step) => keptStep(step, at)),
    ...(events.length > 1 && { eventSequences: events.map(({ sequence }) => sequence) }),
  };
  const { isStarted, leased } = await store.runStart({ environmentId, eventSequence, run, now: at, lease: executor.lease() });
  executor.take(leased);
  return isStarted ? run.id : new Refusal("run_not_repeatable", "The events of the copy were removed before it could start.");
}

async function storeEvents({ store, eventIds }: StartCopyParts, environmentId: EnvironmentId, copy: RunCopy, at: number) {
  const sent = parseEvents(Buffer.from(copy.events));
  if (sent instanceof Refusal) return sent;
  const events = sent.map((event) => ({ ...event, id: eventIds.next(at), ts: event.ts ?? at }));
  // Whenever an id was seen, it was before this time: none is a duplicate.
  const duplicateSince = Number.MAX_SAFE_INTEGER;
  const batch = { environmentId, receivedAt: at, source: copy.source, duplicateSince, idsFromSender: false, events };
  const { ids } = await store.eventAppend(batch);
  const stored = await Promise.all(ids.map((id) => store.eventGet({ environmentId, id })));
  return stored.filter((event) => event !== null);
}

function keptStep({ id, name, kind, value: given }: CopiedStep, at: number): KeptStep {
  const value = asStored(given);
  const status = value.startsWith('{"error":') ? "failed" : "completed";
  return { id: id as StepId, name, kind, value, status, startedAt: at, endedAt: at, attempts: 1, until: null, detail: null };
}

/** Results are stored without space around the members of an object; payloads keep theirs. */
function asStored(value: string): string {
  return value.startsWith("{") ? joinMembers(value, jsonMembers(value)) : value;
}

/** A function as created by `createFunction`: its handler, triggers and configuration. Used by `serve` and the test kit. */

import type { Client } from "../client/client.ts";
import type { ReceivedEvent } from "../events/event-types.ts";
import { checkConfig, type FlowConfig } from "./function-config.ts";

export type PlainTrigger = { event: string; if?: string | undefined } | { cron: string };

/** Handlers have different event types; callers check that a handler receives the right ones. */
export type PlainHandler = (context: never) => unknown;

/** `Result` is the type of the handler's return value, `Data` that of the data it can be invoked with: `step.invoke` uses both. */
export interface InletFunction<Result = unknown, Data = unknown> {
  readonly id: string;
  readonly client: Client;
  readonly config: FlowConfig;
  readonly triggers: readonly PlainTrigger[];
  readonly handler: PlainHandler;
  /** Runs as a separate function when this one has failed. */
  readonly onFailure: PlainHandler | undefined;
  /** Types only: never set. */
  readonly types?: { result: Result; data: Data };
}

/** The event of an onFailure handler. */
export type FailureEvent<Event = ReceivedEvent> = ReceivedEvent<
  "inlet/function.failed",
  {
    function_id: string;
    run_id: string;
    error: { name: string; message: string; stack?: string };
    event: Event;
    events?: Event[];
  }
>;

export interface FunctionParts {
  client: Client;
  config: FlowConfig;
  triggers: readonly PlainTrigger[];
  handler: PlainHandler;
  onFailure?: PlainHandler | undefined;
}

export function createInletFunction<Result, Data>({
  client,
  config,
  triggers,
  handler,
  onFailure,
}: FunctionParts): InletFunction<Result, Data> {
  checkConfig(config);
  if (typeof handler !== "function") throw new TypeError(`Function "${config.id}" has no handler`);
  for (const trigger of triggers) checkTrigger(config.id, trigger);
  return { id: config.id, client, config, triggers, handler, onFailure };
}

/** A misspelt field would be a condition or a time zone that does not hold. */
function checkTrigger(id: string, trigger: PlainTrigger): void {
  const [subject, known] = "cron" in trigger ? [trigger.cron, ["cron"]] : [trigger.event, ["event", "if"]];
  const unknown = Object.keys(trigger).find((field) => !known.includes(field));
  const fault = unknown === undefined ? "" : `, not with "${unknown}"`;
  if (typeof subject !== "string" || !subject || fault)
    throw new TypeError(`Function "${id}": a trigger is { event, if? } or { cron: "TZ=Europe/Paris 0 9 * * *" }${fault}`);
}

/** The function's name in the whole installation. */
export function fullId({ id, client }: Pick<InletFunction, "id" | "client">): string {
  return `${client.id}-${id}`;
}

export const FAILURE_SUFFIX = "-failure";

/** The second function that `onFailure` creates. */
export function failureFunction(fn: InletFunction): InletFunction | undefined {
  if (!fn.onFailure) return undefined;
  return createInletFunction({
    client: fn.client,
    config: { id: `${fn.id}${FAILURE_SUFFIX}`, name: `${fn.config.name ?? fn.id} (failure)`, retries: 1 },
    triggers: [{ event: "inlet/function.failed", if: `event.data.function_id == '${fullId(fn)}'` }],
    handler: fn.onFailure,
  });
}

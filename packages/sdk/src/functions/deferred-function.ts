/**
 * Functions that others defer: `createDefer` creates one, `defer` in a handler schedules it, and the service starts it when the run has ended,
 * however it ended. It is a separate function with its own steps and retries.
 */

import type { Client } from "../client/client.ts";
import type { OpenData, ReceivedEvent } from "../events/event-types.ts";
import type { Jsonified } from "../events/jsonified.ts";
import type { InferInput, InferOutput, StandardSchemaV1 } from "../events/standard-schema.ts";
import type { FunctionContext } from "./context.ts";
import type { DeferParent, DeferredFunction } from "./defer.ts";
import type { FlowConfig } from "./function-config.ts";
import { createInletFunction, fullId } from "./inlet-function.ts";

export const DEFERRED_EVENT = "inngest/deferred.schedule";

export interface DeferConfig<Schema extends StandardSchemaV1 | undefined> extends Omit<FlowConfig, "batchEvents"> {
  /** A Standard Schema of the data passed to `defer`. It must validate synchronously. */
  schema?: Schema;
}

type GivenData<Schema> = Schema extends StandardSchemaV1 ? InferInput<Schema> : OpenData;
type SeenData<Schema> = Schema extends StandardSchemaV1 ? Jsonified<InferOutput<Schema>> : OpenData;

export interface DeferContext<Data> extends FunctionContext<Record<never, never>, false, ReceivedEvent<typeof DEFERRED_EVENT, Data>> {
  parents: readonly [DeferParent];
}

export function createDefer<Result, Schema extends StandardSchemaV1 | undefined = undefined>(
  client: Client,
  { schema, ...config }: DeferConfig<Schema>,
  handler: (context: DeferContext<SeenData<Schema>>) => Result,
): DeferredFunction<Awaited<Result>, GivenData<Schema>> {
  const condition = `event.data._inngest.fn_slug == '${fullId({ client, id: config.id })}'`;
  const fn = createInletFunction<Awaited<Result>, GivenData<Schema>>({
    client,
    config,
    triggers: [{ event: DEFERRED_EVENT, if: condition }],
    handler: (context: FunctionContext<Record<never, never>, false, ReceivedEvent>) =>
      handler(deferContext(context) as DeferContext<SeenData<Schema>>),
  });
  return { ...fn, schema: schema as StandardSchemaV1 | undefined, isDeferred: true };
}

/** The origin of the event is stored next to its data, not in it. */
function deferContext(context: FunctionContext<Record<never, never>, false, ReceivedEvent>): DeferContext<unknown> {
  const { _inngest, ...data } = context.event.data;
  const { parent_fn_slug: fnSlug = "", parent_run_id: runId = "" } = (_inngest ?? {}) as Record<string, string>;
  const event = { ...context.event, name: DEFERRED_EVENT, data } as ReceivedEvent<typeof DEFERRED_EVENT, unknown>;
  return { ...context, event, events: [event], parents: [{ fnSlug, runId }] };
}

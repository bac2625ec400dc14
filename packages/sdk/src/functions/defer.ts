/** `defer` of a handler, as types. The implementation is in `execution/deferred-calls.ts`. */

import type { OpenData } from "../events/event-types.ts";
import type { EventMeta } from "../events/sessions.ts";
import type { StandardSchemaV1 } from "../events/standard-schema.ts";
import type { InletFunction } from "./inlet-function.ts";

/** `Data` is the data passed to `defer`. */
export interface DeferredFunction<Result = unknown, Data = OpenData> extends InletFunction<Result, Data> {
  readonly schema: StandardSchemaV1 | undefined;
  readonly isDeferred: true;
}

/** The run that deferred this one. */
export interface DeferParent {
  fnSlug: string;
  runId: string;
}

export interface DeferOptions<Called> {
  function: Called;
  data: Called extends DeferredFunction<unknown, infer Data> ? Data : never;
  meta?: EventMeta | undefined;
}

export interface Deferred {
  /** Cancels the deferral: the function is not started. */
  abort(): void;
}

export type Defer = <Called extends DeferredFunction<unknown, unknown>>(id: string, options: DeferOptions<Called>) => Deferred;

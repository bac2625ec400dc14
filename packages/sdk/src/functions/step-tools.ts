/** The `step` object of a handler, as types. The implementation is in `execution/`. */

import type { DataField, EventNamed, KnownName, SendableEvent } from "../events/event-types.ts";
import type { Jsonified, StepResult } from "../events/jsonified.ts";
import type { RealtimeTopic } from "../events/realtime-topic.ts";
import type { SentSignal } from "../events/sent-signal.ts";
import type { EventMeta } from "../events/sessions.ts";
import type { AiTools, FetchOptions } from "./ai-tools.ts";
import type { Duration, Expression } from "./function-config.ts";
import type { FunctionReference } from "./function-reference.ts";
import type { InletFunction } from "./inlet-function.ts";

export interface WaitOptions<Wanted extends string> {
  event: Wanted;
  /** How long to wait. After that, the result of the step is null. */
  timeout: Duration | Date;
  /** An expression over `event` (the event that started the run) and `async` (the event that arrives). */
  if?: Expression | undefined;
  /** A path at which both events must have the same value, such as "data.orderId". */
  match?: string | undefined;
}

export interface ApprovalOptions {
  /** The question, as people read it. */
  prompt: string;
  /** Any JSON value, shown with the question. */
  data?: unknown;
  timeout: Duration | Date;
  /** Whether the page asks for confirmation before it rejects. */
  confirmReject?: boolean | undefined;
}

/** What a person decided. */
export interface Approval<Data = Jsonified<unknown>> {
  decision: "approved" | "rejected";
  /** The name of the key or person; `link` for the page. */
  by: string;
  comment: string | null;
  /** What came with a decision over REST, else null. */
  data: Data;
}

export interface SignalOptions {
  /** One run waits for a signal at a time. */
  signal: string;
  /** How long to wait. After that, the result of the step is null. */
  timeout: Duration | Date;
  /** If another run waits for the signal: this run fails (the default), or takes over the signal, and the other run waits until its timeout. */
  onConflict?: "fail" | "replace" | undefined;
}

/** The data is that of the function's event before validation: the input of its schema. */
export type InvokeOptions<Called> = InvokeSettings<Called> &
  DataField<Called extends InletFunction<unknown, infer Data> | FunctionReference<unknown, infer Data> ? Data : Record<string, unknown>>;

interface InvokeSettings<Called> {
  /** A function, or one of another app: a reference, or its name as `<app id>-<function id>`. */
  function: Called;
  /** Becomes the `user` of the invoked function's event. */
  user?: Readonly<Record<string, unknown>> | undefined;
  /** Becomes the `v` of the invoked function's event. */
  v?: string | undefined;
  /** Sessions of the invoked function's event. */
  meta?: EventMeta | undefined;
  timeout?: Duration | Date | undefined;
}

/**
 * Each call is one step. Its result is stored, and the step does not run again when the function is called again. An id identifies a
 * step within the function; a repeated id, for example in a loop, gets a number.
 */
export interface StepTools<Schemas, Checked> {
  /** Runs code once and stores its return value as JSON. An error is retried; the last one is thrown as a StepError. */
  run<Args extends unknown[], Result>(id: string, body: (...args: Args) => Result, ...args: Args): Promise<StepResult<Awaited<Result>>>;
  /** Sends events once, even if the step is retried. */
  sendEvent(id: string, events: SendableEvent<Schemas> | readonly SendableEvent<Schemas>[]): Promise<{ ids: string[] }>;
  sleep(id: string, duration: Duration): Promise<void>;
  sleepUntil(id: string, instant: Date | string | number): Promise<void>;
  /** Returns the next event of that name, or null on timeout. */
  waitForEvent<Wanted extends KnownName<Schemas>>(
    id: string,
    options: WaitOptions<Wanted>,
  ): Promise<EventNamed<Schemas, Checked, Wanted> | null>;
  /** Returns the signal with its data, or null on timeout. */
  waitForSignal<Data = Jsonified<unknown>>(id: string, options: SignalOptions): Promise<{ signal: string; data: Data } | null>;
  /** Asks a person, on a page of the service and in its dashboard. Returns the decision, or null on timeout. */
  waitForApproval<Data = Jsonified<unknown>>(id: string, options: ApprovalOptions): Promise<Approval<Data> | null>;
  /** Resumes the run that waits for the signal. Returns its id, or null if none does. */
  sendSignal(id: string, signal: SentSignal): Promise<{ runId: string | null }>;
  /** The service makes the request and stores the response, whatever its status. A request without a response is retried. */
  fetch(url: string | URL, options?: FetchOptions): Promise<Response>;
  readonly ai: AiTools;
  readonly realtime: {
    /** Publishes once, even if the function is called again. */
    publish<Data>(id: string, topic: RealtimeTopic<Data>, data: NoInfer<Data>): Promise<void>;
  };
  /** Runs another function and returns its result. */
  invoke<Called extends string | InletFunction | FunctionReference>(
    id: string,
    options: InvokeOptions<Called>,
  ): Promise<Called extends InletFunction<infer Result> | FunctionReference<infer Result> ? StepResult<Result> : Jsonified<unknown>>;
}

export type AnyStepTools = StepTools<Record<never, never>, false>;

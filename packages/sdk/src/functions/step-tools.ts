/** The `step` object of a handler, as types. What it does is in `execution/`. */

import type { EventNamed, KnownName, SendableEvent } from "../events/event-types.ts";
import type { Jsonified, StepResult } from "../events/jsonified.ts";
import type { RealtimeTopic } from "../events/realtime-topic.ts";
import type { SentSignal } from "../events/sent-signal.ts";
import type { EventMeta } from "../events/sessions.ts";
import type { AiTools, FetchOptions } from "./ai-tools.ts";
import type { Duration, Expression } from "./function-config.ts";
import type { InletFunction } from "./inlet-function.ts";

export interface WaitOptions<Wanted extends string> {
  event: Wanted;
  /** How long to wait; afterwards the step's result is null. */
  timeout: Duration | Date;
  /** Over `event` (the one that started the run) and `async` (the one that arrives). */
  if?: Expression | undefined;
  /** A path both events must agree in, such as "data.orderId". */
  match?: string | undefined;
}

export interface SignalOptions {
  /** One run waits for a signal at a time. */
  signal: string;
  /** How long to wait; afterwards the step's result is null. */
  timeout: Duration | Date;
  /** When another run waits for it: this run fails (the default), or takes its place, and the other one's wait ends with its time. */
  onConflict?: "fail" | "replace" | undefined;
}

export interface InvokeOptions<Called> {
  /** A function, or `<app id>-<function id>` of one that lives elsewhere. */
  function: Called;
  data?: Called extends InletFunction<unknown, infer Data> ? Data : Record<string, unknown>;
  /** Becomes the `user` of the invoked function's event. */
  user?: Readonly<Record<string, unknown>> | undefined;
  /** Becomes the `v` of the invoked function's event. */
  v?: string | undefined;
  /** Sessions of the invoked function's event. */
  meta?: EventMeta | undefined;
  timeout?: Duration | Date | undefined;
}

/**
 * Each call is one step: its result is kept, and when the function is run again the step is not. An id names a step within
 * the function; the same id used again, in a loop say, gets a number.
 */
export interface StepTools<Schemas, Checked> {
  /** Runs code once and keeps what it returns, as JSON. A throw is retried; the last one arrives as a StepError. */
  run<Args extends unknown[], Result>(id: string, body: (...args: Args) => Result, ...args: Args): Promise<StepResult<Awaited<Result>>>;
  /** Sends events, once, however often the step is tried. */
  sendEvent(id: string, events: SendableEvent<Schemas> | readonly SendableEvent<Schemas>[]): Promise<{ ids: string[] }>;
  sleep(id: string, duration: Duration): Promise<void>;
  sleepUntil(id: string, instant: Date | string | number): Promise<void>;
  /** The next event of that name, or null when none came in time. */
  waitForEvent<Wanted extends KnownName<Schemas>>(
    id: string,
    options: WaitOptions<Wanted>,
  ): Promise<EventNamed<Schemas, Checked, Wanted> | null>;
  /** What is sent with the signal, or null when it did not come in time. */
  waitForSignal<Data = Jsonified<unknown>>(id: string, options: SignalOptions): Promise<{ signal: string; data: Data } | null>;
  /** Resumes the run that waits for the signal. Its id, or null when none does. */
  sendSignal(id: string, signal: SentSignal): Promise<{ runId: string | null }>;
  /** The service makes the request and keeps the response, whatever its status. No response at all is tried again. */
  fetch(url: string | URL, options?: FetchOptions): Promise<Response>;
  readonly ai: AiTools;
  readonly realtime: {
    /** Publishes once, however often the function is called again. */
    publish(id: string, topic: RealtimeTopic, data: unknown): Promise<void>;
  };
  /** Runs another function and waits for what it returns. */
  invoke<Called extends string | InletFunction>(
    id: string,
    options: InvokeOptions<Called>,
  ): Promise<Called extends InletFunction<infer Result> ? StepResult<Result> : Jsonified<unknown>>;
}

export type AnyStepTools = StepTools<Record<never, never>, false>;

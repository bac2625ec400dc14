/**
 * Middleware of a client: code around every send, function and step. Each hook gets one object and may return fields that replace those
 * of the object; it may be async. Hooks named before run in the order of the list, hooks named after in reverse. An error of a hook is an
 * error of what it belongs to: the send is refused, or the attempt of the step or function fails.
 */

import type { Logger } from "../client/settings.ts";
import type { EventPayload, ReceivedEvent } from "../events/event-types.ts";
import type { Sessions } from "../events/sessions.ts";

/** The function and the call of it that hooks run in. */
export interface CallInfo {
  readonly function: { readonly id: string; readonly appId: string };
  readonly runId: string;
  /** 0 for the first attempt. Counted separately for each step. */
  readonly attempt: number;
  readonly maxAttempts: number;
}

export interface BeforeSend {
  events: readonly EventPayload[];
  /** The run that sends, if any. */
  readonly runId: string | undefined;
}

/** `ids` of a send that succeeded, else `error`. */
export interface AfterSend extends BeforeSend {
  ids: readonly string[] | undefined;
  error: unknown;
}

export interface BeforeFunction extends CallInfo {
  /** The first of `events`. */
  event: ReceivedEvent;
  events: readonly [ReceivedEvent, ...ReceivedEvent[]];
  logger: Logger;
  readonly sessions: Sessions;
}

/** `error` of a function that threw, else `result`. */
export interface AfterFunction extends CallInfo {
  result: unknown;
  error: unknown;
}

export interface MiddlewareStep {
  readonly id: string;
  readonly kind: "run" | "sendEvent" | "sendSignal" | "ai.wrap" | "realtime.publish";
}

export interface BeforeStep extends CallInfo {
  readonly step: MiddlewareStep;
  /** The arguments of the code in `step.run` and `step.ai.wrap`. */
  input: readonly unknown[];
}

/** `error` of a step that threw, else `result`. */
export interface AfterStep extends CallInfo {
  readonly step: MiddlewareStep;
  result: unknown;
  error: unknown;
}

// biome-ignore lint/suspicious/noConfusingVoidType: what a hook without a return yields
type Changed<Argument> = Partial<Argument> | undefined | void;
type Maybe<T> = T | Promise<T>;

/** Fields that `beforeFunction` returns beside those of its argument are added to the context of the handler. */
// biome-ignore lint/suspicious/noConfusingVoidType: what a hook without a return yields
type Added = (Partial<BeforeFunction> & Record<string, unknown>) | undefined | void;

export interface Middleware {
  /** Named in errors. */
  name: string;
  /** Before events are sent, once for all attempts, after their schemas were checked. */
  beforeSend?(sending: BeforeSend): Maybe<Changed<BeforeSend>>;
  /** After a send succeeded or failed. */
  afterSend?(sent: AfterSend): Maybe<Changed<AfterSend>>;
  /** Before each call of the function's code: the service calls it again after each step. */
  beforeFunction?(context: BeforeFunction): Maybe<Added>;
  /** After the function's code has returned or thrown; not after a call that ended at a step. */
  afterFunction?(ended: AfterFunction): Maybe<Changed<AfterFunction>>;
  /** Before each attempt of a step whose code runs in the app. */
  beforeStep?(begun: BeforeStep): Maybe<Changed<BeforeStep>>;
  /** After each attempt of such a step. */
  afterStep?(ended: AfterStep): Maybe<Changed<AfterStep>>;
  /** Converts each value that the service stores: data of events and signals, results and arguments of steps, results of functions. */
  encode?(value: unknown): Maybe<unknown>;
  /** Converts it back. Also gets values that `encode` did not make, such as data of events from elsewhere. */
  decode?(value: unknown): Maybe<unknown>;
}

/** What the `beforeFunction` hooks of a client add to the context of its handlers. */
export type AddedContext<List> = List extends readonly [infer First, ...infer Rest] ? AddedBy<First> & AddedContext<Rest> : unknown;

type AddedBy<One> = One extends { beforeFunction(...args: never[]): infer Returned }
  ? Omit<NonNullable<Exclude<Awaited<Returned>, void>>, keyof BeforeFunction | "step" | "defer">
  : unknown;

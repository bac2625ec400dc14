/** The configuration of a function: the first argument of `createFunction`. Durations are milliseconds or strings such as "1h30m". */

import { durationMs } from "../duration.ts";

export type Duration = number | string;

/** A CEL expression over `event`: `event.data.customerId`. */
export type Expression = string;

export interface ConcurrencyLimit {
  /** Limits concurrent steps. */
  limit: number;
  key?: Expression | undefined;
  scope?: "fn" | "env" | "account" | undefined;
}

/** Separate limits for runs and steps: a run holds its slot from its first call to its end, even while it sleeps. */
export interface RunConcurrency {
  /** Limits concurrent runs, for each value of the key if there is one. */
  fn: readonly [{ limit: number; key?: Expression | undefined }];
  /** Limits concurrent steps. */
  step?: readonly ConcurrencyLimit[] | undefined;
}

export interface CancelOn<Name extends string = string> {
  event: Name;
  /** An expression over `event` (the event that started the run) and `async` (the event that arrives). */
  if?: Expression | undefined;
  /** A path at which both events must have the same value, such as "data.orderId". */
  match?: string | undefined;
  timeout?: Duration | undefined;
}

export interface FlowConfig {
  id: string;
  /** Display name; default: the id. */
  name?: string | undefined;
  /** Retries after the first attempt, per step; 0 to 20, default 4. */
  retries?: number | undefined;
  concurrency?:
    | number
    | ConcurrencyLimit
    | readonly [ConcurrencyLimit]
    | readonly [ConcurrencyLimit, ConcurrencyLimit]
    | RunConcurrency
    | undefined;
  /** Delays runs beyond the limit. */
  throttle?: { limit: number; period: Duration; burst?: number | undefined; key?: Expression | undefined } | undefined;
  /** Drops runs beyond the limit. Starts are evenly spaced; `burst` more than one may start at once, by default a tenth of the limit. */
  rateLimit?: { limit: number; period: Duration; burst?: number | undefined; key?: Expression | undefined } | undefined;
  /** Starts one run with the last event, once no event has arrived for the period. */
  debounce?: { period: Duration; key?: Expression | undefined; timeout?: Duration | undefined } | undefined;
  /** Starts one run for several events. */
  batchEvents?: { maxSize: number; timeout: Duration; key?: Expression | undefined; if?: Expression | undefined } | undefined;
  /** Seconds by which a run moves ahead of others, or behind them. */
  priority?: { run: Expression } | undefined;
  /** Allows one run at a time. */
  singleton?: { key?: Expression | undefined; mode: "skip" | "cancel" } | undefined;
  /**
   * Starts the runs of one key in the order in which their events were accepted, one at a time. After a failed run, the next one
   * starts (`continue`, the default), or all wait until it is rerun or released (`hold`).
   */
  ordering?: { key: Expression; onFailure?: "continue" | "hold" | undefined } | undefined;
  /** One run per value in 24 hours. */
  idempotency?: Expression | undefined;
  cancelOn?: readonly CancelOn[] | undefined;
  timeouts?: { start?: Duration | undefined; finish?: Duration | undefined } | undefined;
}

const RETRIES_MAX = 20;
const ID = /^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/;

/** Reports faults where the function is created, not at the first sync. */
export function checkConfig(config: FlowConfig): void {
  const { id, retries } = config;
  checkId(id, "function");
  if (retries !== undefined && (!Number.isInteger(retries) || retries < 0 || retries > RETRIES_MAX)) {
    throw new RangeError(`Function "${id}": retries must be a whole number from 0 to ${RETRIES_MAX}, not ${retries}`);
  }
  checkDurations(config);
}

function checkDurations({ id, throttle, rateLimit, debounce, batchEvents, timeouts, cancelOn = [] }: FlowConfig): void {
  const durations: [string, Duration | undefined][] = [
    ["throttle.period", throttle?.period],
    ["rateLimit.period", rateLimit?.period],
    ["debounce.period", debounce?.period],
    ["debounce.timeout", debounce?.timeout],
    ["batchEvents.timeout", batchEvents?.timeout],
    ["timeouts.start", timeouts?.start],
    ["timeouts.finish", timeouts?.finish],
    ...cancelOn.map(({ timeout }, at): [string, Duration | undefined] => [`cancelOn[${at}].timeout`, timeout]),
  ];
  for (const [field, duration] of durations) {
    try {
      if (duration !== undefined) durationMs(duration);
    } catch (cause) {
      throw new TypeError(`Function "${id}": ${field}: ${(cause as Error).message}`, { cause });
    }
  }
}

/** Ids are used in URLs and expressions. */
export function checkId(id: string, what: "app" | "function"): void {
  if (typeof id === "string" && ID.test(id)) return;
  throw new TypeError(
    `The id of ${what === "app" ? "an app" : "a function"} is up to 128 letters, digits, ".", "_" or "-"; not ${JSON.stringify(id)}`,
  );
}

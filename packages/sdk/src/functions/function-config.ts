/** How a function is to be run: what `createFunction` takes beside its trigger and handler. Durations are milliseconds or texts such as "1h30m". */

export type Duration = number | string;

/** An expression over `event`, in CEL: `event.data.customerId`. */
export type Expression = string;

export interface ConcurrencyLimit {
  /** Steps running at the same time. */
  limit: number;
  key?: Expression | undefined;
  scope?: "fn" | "env" | "account" | undefined;
}

/** Runs and steps limited apart: a run keeps its place from its first call to its end, asleep or not. */
export interface RunConcurrency {
  /** Runs at the same time, for each value of the key if there is one. */
  fn: readonly [{ limit: number; key?: Expression | undefined }];
  /** Steps running at the same time. */
  step?: readonly ConcurrencyLimit[] | undefined;
}

export interface CancelOn<Name extends string = string> {
  event: Name;
  /** Over `event` (the one that started the run) and `async` (the one that arrives). */
  if?: Expression | undefined;
  /** A path both events must agree in, such as "data.orderId". */
  match?: string | undefined;
  timeout?: Duration | undefined;
}

export interface FlowConfig {
  id: string;
  /** For people; default: the id. */
  name?: string | undefined;
  /** Attempts after the first, per step; 0 to 20, default 4. */
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
  /** Drops runs beyond the limit. Starts are evenly spaced; `burst` more than one may come at once, a tenth of the limit unless given. */
  rateLimit?: { limit: number; period: Duration; burst?: number | undefined; key?: Expression | undefined } | undefined;
  /** Runs once events have stopped coming for a while, with the last of them. */
  debounce?: { period: Duration; key?: Expression | undefined; timeout?: Duration | undefined } | undefined;
  /** One run for many events. */
  batchEvents?: { maxSize: number; timeout: Duration; key?: Expression | undefined; if?: Expression | undefined } | undefined;
  /** Seconds by which a run goes before, or after, others. */
  priority?: { run: Expression } | undefined;
  /** One run at a time. */
  singleton?: { key?: Expression | undefined; mode: "skip" | "cancel" } | undefined;
  /**
   * Runs of one key start in the order in which their events were accepted, one at a time. After a run that failed, the next one
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

/** Faults are found where the function is written, not at the first sync. */
export function checkConfig({ id, retries }: FlowConfig): void {
  checkId(id, "function");
  if (retries !== undefined && (!Number.isInteger(retries) || retries < 0 || retries > RETRIES_MAX)) {
    throw new RangeError(`Function "${id}": retries must be a whole number from 0 to ${RETRIES_MAX}, not ${retries}`);
  }
}

/** Ids travel in URLs and expressions. */
export function checkId(id: string, what: "app" | "function"): void {
  if (typeof id === "string" && ID.test(id)) return;
  throw new TypeError(
    `The id of ${what === "app" ? "an app" : "a function"} is up to 128 letters, digits, ".", "_" or "-"; not ${JSON.stringify(id)}`,
  );
}

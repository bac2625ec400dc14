/**
 * The lane of a run's calls, and the rules of each lane. A lane's key contains all information, so that it can be parsed
 * after a restart. Values of keys are hashes: they are compared, and nothing of an event can be read from them.
 *
 * - `app:<no>`: calls of an app without other limits;
 * - `fn:<no>:<values of its concurrency keys>`: calls of a function with its own limits;
 * - `gate:<no>:<values, and that of its throttle's key>`: runs that wait to be admitted. They then move to the
 *   lane of the same function without the gate;
 * - `order:<no>:<its order key, then as for a gate>`: a gate that admits runs of one key in order, one at a time.
 */

import type { AppNo, EnvironmentId, FunctionNo } from "@inlet/protocol";
import { type LimitRule, orderId, type RunOrderKey, type RunThrottle } from "../store/contract/index.ts";
import { compileExpression, type EventValue, isFault } from "./expressions.ts";
import type { FunctionConfig } from "./function-config.ts";
import { throttleAdmit } from "./gcra.ts";
import type { RegisteredFunction, Registry } from "./registry.ts";

/** Of a longer order key, the beginning is shown. */
const ORDER_TEXT_UNITS_MAX = 200;

/** The store's hash of a key (store/contract/store.ts). */
export type KeyHash = (key: string) => string;

/** The lane in which the runs of a gate continue, and how many of them are admitted. */
export interface Gate {
  name: string;
  environmentId: EnvironmentId | undefined;
  functionNo: FunctionNo;
  limit: LimitRule | null;
  /** Runs of this key, a hash, are admitted in order; null: by rank. */
  orderKey: string | null;
  /** Announced when it may admit more; null: only time does. */
  freedBy: string | null;
  throttle: { key: string; admit(now: number): RunThrottle["admit"] } | null;
  home: string;
}

export interface LaneRules {
  /** Counted in the store, across nodes. */
  limits: LimitRule[];
  /** How many concurrent calls one node sends to the app. */
  app: LimitRule;
}

/** The key of a run's position in the order of its function's runs. */
export function orderKeyOf({ config: { ordering } }: RegisteredFunction, event: () => EventValue, hash: KeyHash): RunOrderKey | null {
  if (!ordering) return null;
  const text = keyText(ordering.key, event());
  const shown = text.length <= ORDER_TEXT_UNITS_MAX ? text : `${text.slice(0, ORDER_TEXT_UNITS_MAX - 1).toWellFormed()}…`;
  return { key: hash(text), text: shown };
}

/** The lane of a new run of this function. */
export function laneOf(
  registered: RegisteredFunction,
  event: () => EventValue,
  hash: KeyHash,
  order = orderKeyOf(registered, event, hash),
): string {
  const { no, app, config } = registered;
  const { concurrency, throttle } = config;
  const hashOf = (key: string | null) => (key === null ? null : keyHashed(key, event(), hash));
  const values = concurrency.map(({ key }) => hashOf(key));
  if (order !== null) return `order:${no}:${JSON.stringify([order.key, ...values, ...(throttle ? [hashOf(throttle.key)] : [])])}`;
  if (throttle) return `gate:${no}:${JSON.stringify([...values, hashOf(throttle.key)])}`;
  if (concurrency.some(({ counts }) => counts === "runs")) return `gate:${no}:${JSON.stringify(values)}`;
  return concurrency.length > 0 ? `fn:${no}:${JSON.stringify(values)}` : `app:${app.no}`;
}

/** Null for a lane that is not a gate. A function that no longer limits its starts admits all runs. */
export function gateOfLane(registry: Registry, lane: string): Gate | null {
  if (!lane.startsWith("gate:") && !lane.startsWith("order:")) return null;
  const { kind, no, values: all } = readLane(lane);
  const values = kind === "order" ? all.slice(1) : all;
  const functionNo = no as FunctionNo;
  const registered = registry.function(functionNo);
  const { concurrency = [], throttle = null, ordering = null } = registered?.config ?? {};
  const orderKey = kind === "order" && ordering ? (all[0] ?? "") : null;
  const limit = runLimit(no, concurrency, values);
  // It follows the values of the limits that applied when the run was created.
  const throttleValue = valueFor(throttle?.key ?? null, values.at(-1));
  const isThrottled = throttle !== null && !limitsNothing(throttle.key, throttleValue);
  const key = isThrottled ? `${throttle.key ?? ""}:${throttleValue}` : null;
  const home = concurrency.length > 0 || !registered ? `fn:${no}:${JSON.stringify(values)}` : `app:${registered.app.no}`;
  const freedBy = orderKey === null ? (limit?.id ?? null) : orderId(functionNo, orderKey);
  return {
    name: `${no}:${freedBy ?? ""}:${key ?? ""}`,
    environmentId: registered?.environmentId,
    functionNo,
    limit,
    orderKey,
    freedBy,
    throttle:
      throttle && key !== null ? { key, admit: (now) => (remembered, wanted) => throttleAdmit(remembered, now, throttle, wanted) } : null,
    home,
  };
}

/** Undefined for the lane of a function that is not registered any more. */
export function environmentOfLane(registry: Registry, lane: string): EnvironmentId | undefined {
  const [kind, no] = lane.split(":", 2);
  return kind === "app" ? registry.app(Number(no) as AppNo)?.environmentId : registry.function(Number(no) as FunctionNo)?.environmentId;
}

function runLimit(no: number, concurrency: FunctionConfig["concurrency"], values: readonly (string | null)[]): LimitRule | null {
  const index = concurrency.findIndex(({ counts }) => counts === "runs");
  const limit = concurrency[index];
  if (limit && limitsNothing(limit.key, values[index])) return null;
  return limit ? { id: `runs:${no}:${limit.key ?? ""}:${valueFor(limit.key, values[index])}`, cap: limit.limit } : null;
}

export interface CallLimits {
  /** How many concurrent calls one node sends to an app. */
  perApp: number;
  /** How many calls an environment may make at once, on all nodes; null: no limit. */
  ofEnvironment(id: EnvironmentId): number | null;
}

export function rulesOfLane(registry: Registry, lane: string, calls: CallLimits): LaneRules {
  const { kind, no, values } = readLane(lane);
  const callsPerApp = calls.perApp;
  if (kind === "app")
    return { limits: environmentLimit(calls, registry.app(no as AppNo)?.environmentId), app: appLimit(no as AppNo, callsPerApp) };
  const registered = registry.function(no as FunctionNo);
  // A removed function: its runs are ended one by one.
  if (!registered) return { limits: [], app: { id: `gone:${no}`, cap: callsPerApp } };
  const limits = registered.config.concurrency.flatMap(({ limit, key, scope, counts }, index) => {
    if (counts === "runs" || limitsNothing(key, values[index])) return [];
    const value = valueFor(key, values[index]);
    if (scope === "fn") return [{ id: `fn:${no}:${key ?? ""}:${value}`, cap: limit }];
    return [{ id: `${scope === "env" ? `env:${registered.environmentId}` : "account"}:${key ?? ""}:${value}`, cap: limit }];
  });
  const quota = environmentLimit(calls, registered.environmentId);
  return { limits: lowestOfEach([...limits, ...quota]), app: appLimit(registered.app.no, callsPerApp) };
}

/**
 * The lane of a call whose function was limited after its run was created; null: it is in the right one. A limit with a key does not apply to
 * it: the value of the key is not known here.
 */
export function limitedLane({ no, config: { concurrency } }: RegisteredFunction, lane: string): string | null {
  if (!lane.startsWith("app:") || !concurrency.some(({ key, counts }) => key === null && counts === "steps")) return null;
  return `fn:${no}:${JSON.stringify(concurrency.map(({ key }) => (key === null ? null : NO_KEY)))}`;
}

function environmentLimit({ ofEnvironment }: CallLimits, id: EnvironmentId | undefined): LimitRule[] {
  const cap = id === undefined ? null : ofEnvironment(id);
  return cap === null ? [] : [{ id: `calls:${id}`, cap }];
}

/** A function may limit the same thing twice: the lower limit applies. */
function lowestOfEach(limits: readonly LimitRule[]): LimitRule[] {
  const lowest = new Map<string, LimitRule>();
  for (const limit of limits) if (limit.cap < (lowest.get(limit.id)?.cap ?? Number.POSITIVE_INFINITY)) lowest.set(limit.id, limit);
  return [...lowest.values()];
}

/**
 * The value by which a limit counts, given what stands at its position in the lane of a run. The lane has the values of the limits that
 * applied when the run was created: at the position of a limit that was set later, there may be the value of another one, such as the
 * throttle's. A limit without a key has one count, whatever stands there.
 */
function valueFor(key: string | null, value: string | null | undefined): string {
  return key === null ? "" : (value ?? "");
}

function readLane(lane: string): { kind: string; no: number; values: (string | null)[] } {
  const [kind = "", no = "", ...rest] = lane.split(":");
  return { kind, no: Number(no), values: rest.length === 0 ? [] : JSON.parse(rest.join(":")) };
}

function appLimit(appNo: AppNo, cap: number): LimitRule {
  return { id: `app:${appNo}`, cap };
}

/** The text of a key that is null, false or without a value for an event. JSON texts are never empty. */
const NO_KEY = "";

/** The value of a key expression as text; see limitsNothing for one without a value. */
export function keyText(expression: string, event: EventValue): string {
  const compiled = compileExpression(expression);
  const outcome = isFault(compiled) ? compiled : compiled.evaluate({ event });
  if (isFault(outcome) || outcome.value === null || outcome.value === false) return NO_KEY;
  return JSON.stringify(outcome.value) ?? NO_KEY;
}

/** The same as a hash. A key without a value stays empty. */
export function keyHashed(expression: string, event: EventValue, hash: KeyHash): string {
  const text = keyText(expression, event);
  return text === NO_KEY ? NO_KEY : hash(text);
}

/** Whether a rule does not apply to an event: its key is null, false or without a value for this event. */
export function limitsNothing(key: string | null, value: string | null | undefined): boolean {
  return key !== null && value === NO_KEY;
}

/** The flow control settings of a function: how many of its runs start, when, and how many of its steps run at a time. */

import { DAY_MS, SECOND_MS, YEAR_MS } from "@inlet/protocol";
import type { Fields } from "./fields.ts";

const CONCURRENCY_LIMITS_MAX = 2;
const RUN_LIMITS_MAX = 1;
const BATCH_SIZE_MAX = 10_000;

/** At most `limit` at a time, for each value of the key if there is one, within the scope. */
export interface ConcurrencyLimit {
  limit: number;
  key: string | null;
  scope: "fn" | "env" | "account";
  /** Steps in progress, or runs from their first call to their end. */
  counts: "steps" | "runs";
}

/** Runs beyond it wait. */
export interface ThrottleConfig {
  limit: number;
  periodMs: number;
  burst: number;
  key: string | null;
}

/** Runs beyond it are dropped. */
export interface RateLimitConfig {
  limit: number;
  periodMs: number;
  /** How many beyond the first may start at once; null: a tenth of the limit. */
  burst: number | null;
  key: string | null;
}

export interface DebounceConfig {
  periodMs: number;
  key: string | null;
  timeoutMs: number | null;
}

export interface BatchConfig {
  maxSize: number;
  timeoutMs: number;
  key: string | null;
  /** Events for which it is false start a run of their own. */
  if: string | null;
}

export interface SingletonConfig {
  key: string | null;
  /** What is dropped if a run of the same key is active: the new run, or the active one. */
  mode: "skip" | "cancel";
}

/** Runs of one key start in the order in which they were accepted, one at a time. */
export interface OrderingConfig {
  key: string;
  /** Whether later runs of the key continue after a failed run, or wait until it is rerun or released. */
  onFailure: "continue" | "hold";
}

/** A number, an object, a list of at most two, or `{fn: […], step: […]}` for a limit on runs and limits on steps. 0 means none. */
export function readConcurrency(fields: Fields): ConcurrencyLimit[] {
  const value = fields.value("concurrency");
  if (value === null) return [];
  if (typeof value === "number") {
    const limit = fields.wholeNumber("concurrency", 0) ?? 0;
    return limit > 0 ? [{ limit, key: null, scope: "fn", counts: "steps" }] : [];
  }
  if (Array.isArray(value)) return readLimits(fields.list("concurrency", CONCURRENCY_LIMITS_MAX), "steps");
  const given = fields.object("concurrency");
  if (!given) return [];
  if (given.value("fn") === null && given.value("step") === null) return readLimits([given], "steps");
  const runLimits = given.list("fn", RUN_LIMITS_MAX);
  for (const limit of runLimits) if (readScope(limit) !== "fn") limit.fault("scope", "must be fn: runs are counted by function");
  return [...readLimits(runLimits, "runs"), ...readLimits(given.list("step", CONCURRENCY_LIMITS_MAX), "steps")];
}

function readLimits(limits: readonly Fields[], counts: ConcurrencyLimit["counts"]): ConcurrencyLimit[] {
  return limits
    .map((given) => {
      const limit = requiredNumber(given, "limit", 0);
      const key = given.expression("key");
      const scope = readScope(given);
      if (scope !== "fn" && given.value("key") === null) given.fault("key", `is required when the scope is ${scope}`);
      return { limit, key, scope, counts };
    })
    .filter(({ limit }) => limit > 0);
}

function readScope(given: Fields): ConcurrencyLimit["scope"] {
  // The Go SDK writes "Fn".
  const scope = (given.text("scope") || "fn").toLowerCase();
  if (scope === "fn" || scope === "env" || scope === "account") return scope;
  given.fault("scope", "must be fn, env or account");
  return "fn";
}

export function readThrottle(fields: Fields): ThrottleConfig | null {
  const given = fields.object("throttle");
  if (!given) return null;
  return {
    limit: requiredNumber(given, "limit", 1),
    periodMs: given.requiredDuration("period", SECOND_MS, YEAR_MS),
    burst: given.wholeNumber("burst", 0) ?? 0,
    key: given.expression("key"),
  };
}

/** `idempotency`, an expression, allows one run for each of its values in 24 hours; it replaces any rate limit. */
export function readRateLimit(fields: Fields): RateLimitConfig | null {
  const idempotencyKey = fields.expression("idempotency");
  const given = fields.object("rateLimit");
  const rateLimit = given && {
    limit: requiredNumber(given, "limit", 1),
    periodMs: given.requiredDuration("period", 1, DAY_MS),
    burst: given.wholeNumber("burst", 0),
    key: given.expression("key"),
  };
  return idempotencyKey === null ? rateLimit : { limit: 1, periodMs: DAY_MS, burst: 0, key: idempotencyKey };
}

export function readDebounce(fields: Fields): DebounceConfig | null {
  const given = fields.object("debounce");
  if (!given) return null;
  return {
    periodMs: given.requiredDuration("period", SECOND_MS, 7 * DAY_MS),
    key: given.expression("key"),
    timeoutMs: given.duration("timeout", SECOND_MS, YEAR_MS),
  };
}

export function readBatch(fields: Fields): BatchConfig | null {
  const given = fields.object("batchEvents");
  if (!given) return null;
  return {
    maxSize: requiredNumber(given, "maxSize", 2, BATCH_SIZE_MAX),
    timeoutMs: given.requiredDuration("timeout", SECOND_MS, 7 * DAY_MS),
    key: given.expression("key"),
    if: given.expression("if"),
  };
}

/** The Go SDK writes it with a capital letter. */
export function readSingleton(fields: Fields): SingletonConfig | null {
  const given = fields.object("singleton") ?? fields.object("Singleton");
  if (!given) return null;
  const key = given.expression("key");
  const mode = given.text("mode") || "skip";
  if (mode === "skip" || mode === "cancel") return { key, mode };
  return given.fault("mode", "must be skip or cancel");
}

export function readOrdering(fields: Fields): OrderingConfig | null {
  const given = fields.object("ordering");
  if (!given) return null;
  if (given.value("key") === null) given.fault("key", "is required");
  const key = given.expression("key") ?? "";
  const onFailure = given.text("onFailure") || "continue";
  if (onFailure === "continue" || onFailure === "hold") return { key, onFailure };
  return given.fault("onFailure", "must be continue or hold");
}

function requiredNumber(given: Fields, name: string, min: number, max?: number): number {
  if (given.value(name) === null) given.fault(name, "is required");
  return given.wholeNumber(name, min, max) ?? 0;
}

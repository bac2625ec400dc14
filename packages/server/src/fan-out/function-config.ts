/**
 * Reads an app's registration of one function into the form that the service uses: durations in milliseconds, one form for what
 * SDKs write in several, expressions that compile. Accepts what the published Inngest SDKs (JavaScript, Python, Go) and ours send;
 * unknown fields are kept in `raw`. Settings that cannot be honoured are refused, with a sentence for each fault.
 */

import { hasCredentials, YEAR_MS } from "@inlet/protocol";
import { Fields } from "./fields.ts";
import {
  type BatchConfig,
  type ConcurrencyLimit,
  type DebounceConfig,
  type OrderingConfig,
  type RateLimitConfig,
  readBatch,
  readConcurrency,
  readDebounce,
  readOrdering,
  readRateLimit,
  readSingleton,
  readThrottle,
  type SingletonConfig,
  type ThrottleConfig,
} from "./flow-control.ts";
import { readTriggers, type Trigger } from "./read-triggers.ts";
import { triggerNameFault } from "./triggers.ts";

const FUNCTION_ID_LENGTH_MAX = 255;
const RETRIES_DEFAULT = 4;
const RETRIES_MAX = 20;
const CANCELLATIONS_MAX = 5;

export interface FunctionConfig {
  /** `<app>-<function>`: its id in the wire protocol. */
  id: string;
  name: string;
  triggers: Trigger[];
  /** The URL of this function in the app. */
  url: string;
  /** Retries of each step, after its first attempt. */
  retries: number;
  concurrency: ConcurrencyLimit[];
  throttle: ThrottleConfig | null;
  rateLimit: RateLimitConfig | null;
  debounce: DebounceConfig | null;
  batch: BatchConfig | null;
  priority: { expression: string } | null;
  singleton: SingletonConfig | null;
  ordering: OrderingConfig | null;
  cancelOn: Cancellation[];
  timeouts: { startMs: number | null; finishMs: number | null };
  /** As registered. */
  raw: Readonly<Record<string, unknown>>;
}

/** An event that cancels a run: one of that name for which the expression, if any, is true. */
export interface Cancellation {
  event: string;
  expression: string | null;
  /** How long after the run's creation it applies; null: always. */
  timeoutMs: number | null;
}

/** Each fault is a sentence that names the function and the field. `isStrict` refuses unknown fields of triggers. */
export function readFunctionConfig(registered: unknown, { isStrict = false } = {}): { config: FunctionConfig } | { faults: string[] } {
  if (typeof registered !== "object" || registered === null || Array.isArray(registered))
    return { faults: ["A function must be registered as an object."] };
  const raw = registered as Record<string, unknown> & { id?: unknown };
  const faults: string[] = [];
  const owner = typeof raw.id === "string" && raw.id !== "" ? raw.id.slice(0, FUNCTION_ID_LENGTH_MAX) : "(without id)";
  const fields = new Fields(raw, "", (field, message) => faults.push(`Function ${owner}: ${field} ${message}.`));
  const config = readConfig(fields, raw, isStrict);
  return faults.length > 0 ? { faults } : { config };
}

function readConfig(fields: Fields, raw: Record<string, unknown>, isStrict: boolean): FunctionConfig {
  const id = fields.requiredText("id", FUNCTION_ID_LENGTH_MAX);
  const batch = readBatch(fields);
  const config: FunctionConfig = {
    id,
    name: fields.text("name") ?? id,
    triggers: readTriggers(fields, { isStrict }),
    ...readStep(fields),
    concurrency: readConcurrency(fields),
    throttle: readThrottle(fields),
    rateLimit: readRateLimit(fields),
    debounce: readDebounce(fields),
    batch,
    priority: readPriority(fields),
    singleton: readSingleton(fields),
    ordering: readOrdering(fields),
    cancelOn: readCancellations(fields),
    timeouts: readTimeouts(fields),
    raw,
  };
  if (batch) refuseBesideBatch(config, fields);
  if (config.ordering) refuseBesideOrdering(config, fields);
  return config;
}

/** SDKs register one step, the function itself; its retries apply to every step. */
function readStep(fields: Fields): { url: string; retries: number } {
  const step = Object.values(fields.object("steps")?.objects() ?? {})[0];
  const runtime = step?.object("runtime");
  const url = runtime?.text("url") ?? "";
  if (!/^https?:\/\//.test(url) || !URL.canParse(url))
    fields.fault("steps.step.runtime.url", "must be the address of the function, starting with http:// or https://");
  else if (hasCredentials(url)) fields.fault("steps.step.runtime.url", "must not contain a user name or a password");
  // Go registers the retries next to the step too.
  const retries = step?.object("retries")?.wholeNumber("attempts", 0) ?? fields.wholeNumber("retries", 0) ?? RETRIES_DEFAULT;
  return { url, retries: Math.min(retries, RETRIES_MAX) };
}

function readPriority(fields: Fields): { expression: string } | null {
  const expression = fields.object("priority")?.expression("run") ?? null;
  return expression === null ? null : { expression };
}

function readCancellations(fields: Fields): Cancellation[] {
  const cancellations = fields.list("cancel", CANCELLATIONS_MAX);
  return cancellations.map((cancellation) => {
    const event = cancellation.requiredText("event");
    const nameFault = event === "" ? null : triggerNameFault(event);
    if (nameFault) cancellation.fault("event", nameFault);
    else if (event.endsWith("*")) cancellation.fault("event", "must be the whole name of an event: a pattern would never cancel anything");
    return {
      event,
      expression: cancellation.expression("if", { mayUseAsync: true }),
      timeoutMs: cancellation.duration("timeout", 0, YEAR_MS),
    };
  });
}

function readTimeouts(fields: Fields): FunctionConfig["timeouts"] {
  const timeouts = fields.object("timeouts");
  return { startMs: timeouts?.duration("start", 1, YEAR_MS) ?? null, finishMs: timeouts?.duration("finish", 1, YEAR_MS) ?? null };
}

/** Many events become one run, so settings about single events, or about one run per key, have no meaning. */
function refuseBesideBatch({ cancelOn, debounce, singleton, priority }: FunctionConfig, fields: Fields): void {
  const others: [string, boolean][] = [
    ["cancel", cancelOn.length > 0],
    ["debounce", debounce !== null],
    ["singleton", singleton !== null],
    ["priority", priority !== null],
  ];
  for (const [name, isSet] of others) if (isSet) fields.fault("batchEvents", `cannot be combined with ${name}`);
}

/** Settings that drop, merge or reorder runs break their order; runs of a key are already limited to one. */
function refuseBesideOrdering({ batch, debounce, rateLimit, singleton, priority, concurrency }: FunctionConfig, fields: Fields): void {
  const others: [string, boolean][] = [
    ["batchEvents", batch !== null],
    ["debounce", debounce !== null],
    ["rateLimit or idempotency", rateLimit !== null],
    ["singleton", singleton !== null],
    ["priority", priority !== null],
    ["concurrency.fn", concurrency.some(({ counts }) => counts === "runs")],
  ];
  for (const [name, isSet] of others) if (isSet) fields.fault("ordering", `cannot be combined with ${name}`);
}

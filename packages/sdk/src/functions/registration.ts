/** The registration of each function, sent to the service when the app syncs. */

import { durationText } from "../duration.ts";
import type { CancelOn, Duration, FlowConfig } from "./function-config.ts";
import { failureFunction, fullId, type InletFunction, type PlainTrigger } from "./inlet-function.ts";

type Json = Record<string, unknown>;

/** The entries of a function: its own and, with `onFailure`, that of its second function. */
export function registrationOf(fn: InletFunction, appUrl: string): Json[] {
  const failure = failureFunction(fn);
  return [entryOf(fn, appUrl), ...(failure ? [entryOf(failure, appUrl)] : [])];
}

/** What a wait or a cancellation requires, as one expression: the same value at the path `match` of both events, and `if`. */
export function conditionOf({ match, if: condition }: Pick<CancelOn, "match" | "if">): string | undefined {
  const equality = match ? `event.${match} == async.${match}` : undefined;
  return equality && condition ? `(${equality}) && (${condition})` : equality || condition || undefined;
}

function entryOf(fn: InletFunction, appUrl: string): Json {
  const id = fullId(fn);
  const url = new URL(appUrl);
  url.searchParams.set("fnId", id);
  url.searchParams.set("stepId", "step");
  const { retries } = fn.config;
  const step = {
    id: "step",
    name: "step",
    runtime: { type: "http", url: url.href },
    ...(retries === undefined ? {} : { retries: { attempts: retries } }),
  };
  return { id, name: fn.config.name ?? fn.id, triggers: fn.triggers.map(triggerEntry), steps: { step }, ...flowEntry(fn.config) };
}

function triggerEntry(trigger: PlainTrigger): Json {
  if ("cron" in trigger) return { cron: trigger.cron };
  return { event: trigger.event, ...(trigger.if ? { expression: trigger.if } : {}) };
}

/** Only configured values are sent: the service has its own defaults. */
function flowEntry(config: FlowConfig): Json {
  const { concurrency, throttle, rateLimit, debounce, batchEvents, timeouts } = config;
  return withoutUndefined({
    concurrency,
    throttle: throttle && { ...throttle, period: durationText(throttle.period) },
    rateLimit: rateLimit && { ...rateLimit, period: durationText(rateLimit.period) },
    debounce: debounce && { ...debounce, period: durationText(debounce.period), timeout: optionalText(debounce.timeout) },
    batchEvents: batchEvents && { ...batchEvents, timeout: durationText(batchEvents.timeout) },
    priority: config.priority,
    singleton: config.singleton,
    ordering: config.ordering,
    idempotency: config.idempotency,
    cancel: config.cancelOn?.map(cancelEntry),
    timeouts: timeouts && { start: optionalText(timeouts.start), finish: optionalText(timeouts.finish) },
  });
}

function cancelEntry({ event, timeout, ...conditions }: CancelOn): Json {
  return withoutUndefined({ event, if: conditionOf(conditions), timeout: optionalText(timeout) });
}

function optionalText(duration: Duration | undefined): string | undefined {
  return duration === undefined ? undefined : durationText(duration);
}

function withoutUndefined(entry: Json): Json {
  return Object.fromEntries(Object.entries(entry).filter(([, value]) => value !== undefined));
}

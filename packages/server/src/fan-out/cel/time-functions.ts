/** Timestamps and durations in expressions. Calendar fields are in UTC. */

import { DAY_MS, parseDuration } from "@inlet/protocol";
import type { CelFunction } from "./cel-function.ts";
import { fault, kindOf, Span, type Value } from "./values.ts";

/** RFC 3339, as CEL specifies; Date accepts more, and treats a time without zone as local. */
const RFC_3339 = /^\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:[Zz]|[+-]\d\d:\d\d)$/;

export const TIME_FUNCTIONS: Readonly<Record<string, CelFunction>> = {
  timestamp: { plain: [1], call: ([value = null]) => toTimestamp(value) },
  duration: { plain: [1], call: ([value = null]) => toSpan(value) },
  // Inngest's additions to CEL.
  date: { plain: [1], call: ([value = null]) => toTimestamp(value) },
  now: { plain: [0], call: (_args, scope) => new Date(scope.nowMs) },
  now_plus: { plain: [1], call: ([length = null], scope) => new Date(scope.nowMs + toSpan(length).ms) },
  now_minus: { plain: [1], call: ([length = null], scope) => new Date(scope.nowMs - toSpan(length).ms) },
  getFullYear: calendarField((date) => date.getUTCFullYear()),
  getMonth: calendarField((date) => date.getUTCMonth()),
  getDate: calendarField((date) => date.getUTCDate()),
  getDayOfMonth: calendarField((date) => date.getUTCDate() - 1),
  getDayOfWeek: calendarField((date) => date.getUTCDay()),
  getDayOfYear: calendarField((date) => Math.floor((date.getTime() - Date.UTC(date.getUTCFullYear(), 0, 1)) / DAY_MS)),
  getHours: clockField((date) => date.getUTCHours(), 3_600_000),
  getMinutes: clockField((date) => date.getUTCMinutes(), 60_000),
  getSeconds: clockField((date) => date.getUTCSeconds(), 1_000),
  getMilliseconds: clockField((date) => date.getUTCMilliseconds(), 1),
};

function calendarField(read: (date: Date) => number): CelFunction {
  return { method: [1], call: ([value = null]) => (value instanceof Date ? BigInt(read(value)) : notATime(value)) };
}

/** The whole duration in that unit. */
function clockField(read: (date: Date) => number, unitMs: number): CelFunction {
  return {
    method: [1],
    call: ([value = null]) => {
      if (value instanceof Span) return BigInt(Math.trunc(value.ms / unitMs));
      return value instanceof Date ? BigInt(read(value)) : notATime(value);
    },
  };
}

function notATime(value: Value): never {
  return fault(`a timestamp is needed, not ${kindOf(value)}`);
}

/** A number is in milliseconds, like the event's `ts`. */
function toTimestamp(value: Value): Date {
  if (value instanceof Date) return value;
  const date = typeof value === "string" && RFC_3339.test(value) ? new Date(value) : typeof value === "number" ? new Date(value) : null;
  return date && !Number.isNaN(date.getTime()) ? date : fault("timestamp() needs a text such as 2026-01-31T12:00:00Z, or milliseconds");
}

function toSpan(value: Value): Span {
  if (value instanceof Span) return value;
  const isNegative = typeof value === "string" && value.startsWith("-");
  const ms = typeof value === "string" ? parseDuration(isNegative ? value.slice(1) : value) : null;
  return ms === null ? fault('duration() needs a text such as "1h30m"') : new Span(isNegative ? -ms : ms);
}

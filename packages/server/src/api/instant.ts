/** Times in query parameters: milliseconds since 1970, or ISO 8601. */

import { invalid } from "./rest-errors.ts";

const ISO_8601 = /^\d{4}-\d{2}-\d{2}(?:T\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:Z|[+-]\d{2}:?\d{2})?)?$/;

/** The last that a date can have. */
const INSTANT_MAX = 8.64e15;

export function readInstant(field: string, text: string): number {
  const instant = /^\d{1,16}$/.test(text) ? Number(text) : parseTime(text);
  if (Number.isNaN(instant) || instant > INSTANT_MAX)
    throw invalid(field, `must be ISO 8601, such as 2026-01-31T12:00:00Z, or milliseconds since 1970, not "${text}"`);
  return instant;
}

/** A time in ISO 8601; NaN if it is none. */
export function parseTime(text: string): number {
  return isCalendarTime(text) ? Date.parse(withZone(text)) : Number.NaN;
}

/** Date.parse takes the 30th of February for the 2nd of March. */
function isCalendarTime(text: string): boolean {
  const day = text.slice(0, 10);
  const midnight = Date.parse(day);
  return ISO_8601.test(text) && !Number.isNaN(midnight) && new Date(midnight).toISOString().startsWith(day);
}

/** A time without a zone is UTC: a query must not depend on the server's time zone. */
function withZone(text: string): string {
  return text.includes("T") && !/(?:Z|[+-]\d{2}:?\d{2})$/.test(text) ? `${text}Z` : text;
}

/** The flags for lists and time ranges. */

import { parseDuration } from "@inlet/protocol";
import type { Flags } from "./command-row.ts";

const MILLISECONDS = /^\d{1,16}$/;

/** Converts milliseconds, ISO 8601 or a duration such as `15m` to a time for the REST API. */
export function instant(text: string, now: number = Date.now()): string {
  const agoMs = MILLISECONDS.test(text) ? null : parseDuration(text);
  return agoMs === null ? text : String(now - agoMs);
}

export function instantFault(flag: string) {
  return (text: string) =>
    MILLISECONDS.test(text) || parseDuration(text) !== null || !Number.isNaN(Date.parse(text))
      ? null
      : `${flag} must be a duration such as 15m or 2h, ISO 8601 or milliseconds, not "${text}"`;
}

export const PAGE_FLAGS = {
  limit: {
    type: "string",
    placeholder: "count",
    fallback: "20",
    fault: (text: string) => (/^[1-9]\d{0,5}$/.test(text) ? null : `--limit must be a positive integer, not "${text}"`),
    sentence: "Maximum number of items.",
  },
  cursor: { type: "string", placeholder: "cursor", sentence: "Cursor of the next page, printed by the previous call." },
} as const satisfies Flags;

export const TIME_FLAGS = {
  from: {
    type: "string",
    placeholder: "time",
    fault: instantFault("--from"),
    sentence: "Start time (inclusive): a duration such as 15m, 2h or 7d ago, ISO 8601 or milliseconds.",
  },
  to: { type: "string", placeholder: "time", fault: instantFault("--to"), sentence: "End time (exclusive), in the same formats." },
} as const satisfies Flags;

/** The flags for lists and time ranges. */

import type { Flags } from "./command-row.ts";

const DURATION = /^(\d+(?:\.\d+)?)(s|m|h|d)$/;
const UNITS_MS: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** Converts milliseconds, ISO 8601 or a duration such as `15m` to a time for the REST API. */
export function instant(text: string, now: number = Date.now()): string {
  const [, amount, unit] = DURATION.exec(text) ?? [];
  return amount && unit ? String(now - Math.round(Number(amount) * (UNITS_MS[unit] ?? 0))) : text;
}

export function instantFault(flag: string) {
  return (text: string) =>
    DURATION.test(text) || /^\d{1,16}$/.test(text) || !Number.isNaN(Date.parse(text))
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

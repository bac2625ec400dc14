/** The flags of commands that list, and of those that choose a stretch of time. */

import type { Flags } from "./command-row.ts";

const DURATION = /^(\d+(?:\.\d+)?)(s|m|h|d)$/;
const UNITS_MS: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** Milliseconds, ISO 8601 or a time ago such as `15m`, as the REST API takes it. */
export function instant(text: string, now: number = Date.now()): string {
  const [, amount, unit] = DURATION.exec(text) ?? [];
  return amount && unit ? String(now - Math.round(Number(amount) * (UNITS_MS[unit] ?? 0))) : text;
}

export function instantFault(flag: string) {
  return (text: string) =>
    DURATION.test(text) || /^\d{1,16}$/.test(text) || !Number.isNaN(Date.parse(text))
      ? null
      : `${flag} must be a time ago such as 15m or 2h, ISO 8601 or milliseconds, not "${text}"`;
}

export const PAGE_FLAGS = {
  limit: {
    type: "string",
    placeholder: "count",
    fallback: "20",
    fault: (text: string) => (/^[1-9]\d{0,5}$/.test(text) ? null : `--limit must be a whole number from 1, not "${text}"`),
    sentence: "Most items to show.",
  },
  cursor: { type: "string", placeholder: "cursor", sentence: "Go on where an earlier list ended; it tells the cursor." },
} as const satisfies Flags;

export const TIME_FLAGS = {
  from: {
    type: "string",
    placeholder: "time",
    fault: instantFault("--from"),
    sentence: "At or after: a time ago such as 15m, 2h or 7d, ISO 8601 or milliseconds.",
  },
  to: { type: "string", placeholder: "time", fault: instantFault("--to"), sentence: "Before; written in the same ways." },
} as const satisfies Flags;

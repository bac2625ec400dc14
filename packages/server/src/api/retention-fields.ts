/** Retention as REST writes it: a duration such as `30d`, or null for the next wider rule. */

import { formatDuration, parseDuration } from "@inlet/protocol";
import { invalid } from "./rest-errors.ts";

const MS_MIN = 60_000;
const MS_MAX = 3_660 * 86_400_000;

export const RETENTION = {
  type: ["string", "null"],
  maxLength: 32,
  description: "A duration from `1m` to `3660d`, such as `30d`; null: the next wider rule.",
};

/** Undefined stays undefined: absent fields do not change. */
export function readRetention(field: string, text: string | null | undefined): number | null | undefined {
  if (text === undefined || text === null) return text;
  const ms = parseDuration(text);
  if (ms === null) throw invalid(field, `must be a duration such as "30d" or "12h", not "${text}"`);
  if (ms < MS_MIN || ms > MS_MAX) throw invalid(field, "must be from 1m to 3660d");
  return ms;
}

export function writeRetention(ms: number | null): string | null {
  return ms === null ? null : formatDuration(ms);
}

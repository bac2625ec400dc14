/** The timestamps that providers send with their signatures: seconds, milliseconds or ISO 8601. */

import { canonicalName } from "@inlet/protocol";
import type { ClaimFault, SentAt } from "./signed-request.ts";

/** A larger number is in milliseconds: as seconds it would be in the year 5138. */
const SECONDS_MAX = 100_000_000_000;
const ISO = /^\d{4}-\d\d-\d\dT\d\d:\d\d/;

export function readTime(text: string): number | null {
  if (/^\d{1,16}(?:\.\d+)?$/.test(text)) {
    const value = Number(text);
    return value < SECONDS_MAX ? value * 1_000 : value;
  }
  const parsed = ISO.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(parsed) ? null : parsed;
}

export function timeInHeader(header: string, value: string): () => SentAt {
  return () => ({ where: `the header ${canonicalName(header)}`, ms: readTime(value.trim()) });
}

/** Times too old and too far ahead are both refused: a future time would stay valid for longer than the tolerance. */
export function timeFault({ where, ms }: SentAt, at: number, toleranceSeconds: number): ClaimFault | null {
  if (ms === null) return { reason: `The time in ${where} cannot be read.` };
  const ageSeconds = (at - ms) / 1_000;
  if (Math.abs(ageSeconds) <= toleranceSeconds) return null;
  const seconds = Math.round(Math.abs(ageSeconds));
  const which = ageSeconds > 0 ? `${seconds} seconds old` : `${seconds} seconds ahead`;
  return { reason: `The time in ${where} is ${which}, more than the ${toleranceSeconds} seconds that are tolerated.` };
}

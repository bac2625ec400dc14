/** How rows are followed in the order of their sequence numbers: the same for events and webhook requests, on both engines. */

import type { Slice } from "./byte-bounds.ts";

/** Rows examined per call, so that the traffic of others does not delay a caller. */
export const WINDOW_ROWS = 2_000;
/** A transform may delay a row by this much after its receipt, while others overtake it. */
const OVERTAKEN_MS = 60_000;
/** Of the rows received since then, so many are examined for the smallest number. */
export const OVERTAKEN_ROWS = 1_000;

/** The last row that one call examines. `last`: the highest number below which no row can appear any more. */
export function windowEnd(after: number, last: number): number {
  return Math.min(after + WINDOW_ROWS, last);
}

/** Where the next call continues: after the last row if the slice was cut, else after the window. */
export function reachedBy({ rows, isEnd }: Slice<{ sequence: number }>, after: number, until: number): number {
  const last = rows.at(-1);
  return !isEnd && last ? last.sequence : Math.max(after, until);
}

/** From when on rows may have to be read by a caller who asks for what was received from `receivedFrom` on. */
export function overtakenSince(receivedFrom: number): number {
  return receivedFrom - OVERTAKEN_MS;
}

/** The number to continue after. `first`: the smallest number of the rows received since then; null: there are none. */
export function sequenceBeforeFirst(first: number | null | undefined, last: number): number {
  return first == null ? last : Math.min(first - 1, last);
}

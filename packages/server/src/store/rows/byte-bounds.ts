/** Bounds what one read brings into memory: rows hold payloads of any size, so their number alone bounds nothing. */

/** What a page holds at most, unless it is asked for less. One row is always read, however large. */
export const PAGE_BYTES_MAX = 4 * 1024 * 1024;

/** Rows of a range, from where the last slice ended. */
export interface Slice<Row> {
  rows: Row[];
  /** Whether the range ends with these rows. */
  isEnd: boolean;
}

/** Takes rows until they hold `bytesMax`, the one that reaches it included. `rowsMax`: how many were asked for. */
export function sliceWithin<Row>(found: Iterable<Row>, rowsMax: number, bytesMax: number, bytesOf: (row: Row) => number): Slice<Row> {
  const rows: Row[] = [];
  let bytes = 0;
  for (const row of found) {
    rows.push(row);
    bytes += bytesOf(row);
    if (bytes >= bytesMax) return { rows, isEnd: false };
  }
  return { rows, isEnd: rows.length < rowsMax };
}

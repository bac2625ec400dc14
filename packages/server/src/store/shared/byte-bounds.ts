/** Bounds the memory that one read takes: rows hold payloads of any size, so limiting their number is not enough. */

/** The maximum size of a page, unless a smaller one is requested. One row is always read, however large. */
export const PAGE_BYTES_MAX = 4 * 1024 * 1024;

/** Rows of a range, continuing where the last slice ended. */
export interface Slice<Row> {
  rows: Row[];
  /** Whether the range ends with these rows. */
  isEnd: boolean;
}

/** Takes rows until they hold `bytesMax`, including the row that reaches it. `rowsMax`: how many were requested. */
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

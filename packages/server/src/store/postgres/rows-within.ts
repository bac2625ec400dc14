/**
 * Bounds a query by the size of its rows, in the database: rows beyond the bound are not sent. SQLite is read row by row until the bound
 * is reached, but PostgreSQL returns the whole result at once. The length of a value is known without reading the value.
 */

import type { Slice } from "../shared/byte-bounds.ts";

export type WithinRow<Row> = Row & { rows_found: number };

/** `rows` is a query or a table; `order` is the order of its rows; `bytes` the size of one row. */
export function rowsWithin(rows: string, order: string, bytes: string, bytesMax: number): string {
  const before = `sum(${bytes}) OVER (ORDER BY ${order} ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING)`;
  return `SELECT * FROM (SELECT found.*, coalesce(${before}, 0) AS bytes_before, count(*) OVER () AS rows_found FROM ${rows} AS found) AS bounded
    WHERE bytes_before < ${bytesMax}`;
}

/** `rowsMax`: how many were requested. */
export function boundedSlice<Row>(rows: WithinRow<Row>[], rowsMax: number): Slice<Row> {
  return { rows, isEnd: (rows[0]?.rows_found ?? 0) < rowsMax && isWholeSlice(rows) };
}

/** Whether these are all the rows that the query found. */
export function isWholeSlice(rows: readonly WithinRow<unknown>[]): boolean {
  return rows.length === (rows[0]?.rows_found ?? 0);
}

export const EVENT_BYTES = "octet_length(data) + coalesce(octet_length(extras), 0)";
export const REQUEST_BYTES =
  "octet_length(headers) + octet_length(query) + coalesce(octet_length(body), 0) + coalesce(octet_length(body_base64), 0) + octet_length(logs)";

/** Encodes rows for PostgreSQL: a group's rows of one table are sent as one JSON text and written by one statement. */

import { toStoreJson } from "../shared/store-text.ts";

/** The columns that are written, each with its type. */
export type Columns = Readonly<Record<string, string>>;

/** `$1` as rows `r` with these columns. */
export function recordset(columns: Columns): string {
  const typed = Object.entries(columns).map(([name, type]) => `${name} ${type}`);
  return `json_to_recordset($1) AS r(${typed.join(", ")})`;
}

/** Inserts the rows of `$1`. */
export function insertInto(table: string, columns: Columns): string {
  const names = Object.keys(columns);
  return `INSERT INTO ${table} (${names.join(", ")}) SELECT ${names.map((name) => `r.${name}`).join(", ")} FROM ${recordset(columns)}`;
}

/** A value that PostgreSQL reads with `recordset`. A text that `JSON.stringify` makes of the rows would not do: it can contain NUL. */
export function jsonRows(rows: readonly object[]): JsonRows {
  return new JsonRows(rows);
}

class JsonRows {
  readonly #rows: readonly object[];

  constructor(rows: readonly object[]) {
    this.#rows = rows;
  }

  /** Called by pg. */
  toPostgres(): string {
    return toStoreJson(this.#rows);
  }
}

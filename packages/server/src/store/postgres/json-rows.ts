/** Encodes rows for PostgreSQL: a group's rows of one table are sent as one JSON text and written by one statement. */

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

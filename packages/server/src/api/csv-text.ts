/** Rows as CSV (RFC 4180). */

/** A spreadsheet would run a text that begins like this as a formula. */
const FORMULA = /^[=+\-@\t\r]/;

export function csvText(columns: readonly string[], rows: readonly Readonly<Record<string, string | number>>[]): string {
  const lines = [columns, ...rows.map((row) => columns.map((column) => row[column] ?? ""))];
  return lines.map((line) => `${line.map(field).join(",")}\r\n`).join("");
}

function field(value: string | number): string {
  if (typeof value === "number") return String(value);
  const text = FORMULA.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

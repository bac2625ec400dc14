/** Items of a list as CSV. */

import { type JsonText, membersOf } from "../api/json-text.ts";

/** One column for each member that occurs; what is not a text is JSON. */
export function csvOf(items: readonly JsonText[]): string {
  const rows = items.map((item) => membersOf(item));
  const columns = [...new Set(rows.flatMap((row) => [...row.keys()]))];
  const lines = rows.map((row) => columns.map((column) => csvField(row.get(column))).join(","));
  return [columns.map(textField).join(","), ...lines, ""].join("\r\n");
}

function csvField(text: JsonText | undefined): string {
  if (text === undefined || text === "null") return "";
  return text.startsWith('"') ? textField(JSON.parse(text) as string) : quoted(text);
}

/** A spreadsheet would run what begins like a formula. Senders choose texts, and names of members. */
function textField(text: string): string {
  return quoted(/^[=+\-@\t\r]/.test(text) ? `'${text}` : text);
}

function quoted(value: string): string {
  return /[",\r\n]/.test(value) ? `"${value.replaceAll('"', '""')}"` : value;
}

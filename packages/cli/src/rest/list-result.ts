/** The result of a list command: a table, or the items and the next cursor as JSON. */

import { type CommandResult, EXIT, JsonText } from "../command-line/command-result.ts";
import type { Io } from "../command-line/command-row.ts";
import { type Table, tableText } from "../command-line/write-table.ts";

export function listResult(table: Table, items: unknown, next: string | null, io: Io): CommandResult {
  const text = tableText(table, io.out.isTTY ? io.out.columns : undefined);
  const page = JSON.stringify({ next });
  const json = items instanceof JsonText ? new JsonText(`{"data":${items.text},"page":${page}}`) : { data: items, page: { next } };
  return { exitCode: EXIT.ok, text: next === null ? text : `${text}\nMore results: --cursor ${next}`, json };
}

/** Tables in a terminal. The last column is truncated at the terminal's width. */

import { styleText } from "./terminal-text.ts";

export interface Table {
  headings: readonly string[];
  rows: readonly (readonly (string | null)[])[];
  /** The text for an empty table. */
  empty: string;
}

const NOTHING = "-";
const GAP = "  ";

/** `columns` is the width of the terminal; if undefined, nothing is truncated. */
export function tableText({ headings, rows, empty }: Table, columns: number | undefined): string {
  if (rows.length === 0) return empty;
  const cells = [headings, ...rows].map((row) => row.map((cell) => visible(cell ?? NOTHING)));
  const widths = headings.map((_, i) => Math.max(...cells.map((row) => row[i]?.length ?? 0)));
  const lines = cells.map((row) =>
    cut(row.map((cell, i) => (i === row.length - 1 ? cell : cell.padEnd(widths[i] ?? 0))).join(GAP), columns),
  );
  const [head = "", ...rest] = lines;
  return [styleText("bold", head), ...rest.map((line, i) => coloured(line, rows[i] ?? []))].join("\n");
}

/** The fields of an object, one per line. */
export function fieldsText(fields: readonly (readonly [string, string | null | undefined])[]): string {
  const given = fields.filter((field): field is [string, string] => field[1] !== null && field[1] !== undefined);
  const width = Math.max(...given.map(([name]) => name.length)) + 2;
  return given
    .map(([name, value]) => `${styleText("bold", name.padEnd(width))}${value.replaceAll("\n", `\n${" ".repeat(width)}`)}`)
    .join("\n");
}

const STATUS_COLOURS = {
  completed: "green",
  accepted: "green",
  failed: "red",
  cancelled: "yellow",
  running: "cyan",
  queued: "cyan",
  sleeping: "blue",
  waiting: "blue",
} as const;

export function statusText(status: string): string {
  const colour = STATUS_COLOURS[status as keyof typeof STATUS_COLOURS];
  return colour ? styleText(colour, status) : status;
}

/** Colours the statuses. Colours are added last, because escape codes would count as characters. */
function coloured(line: string, row: readonly (string | null)[]): string {
  const status = row.find((cell) => cell !== null && Object.hasOwn(STATUS_COLOURS, cell));
  return status ? line.replace(status, statusText(status)) : line;
}

/** Escapes control characters, so that a name cannot change the terminal. */
export function visible(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are matched on purpose
  return text.replace(/[\u0000-\u001f\u007f-\u009f]/g, (c) => `\\x${c.charCodeAt(0).toString(16).padStart(2, "0")}`);
}

function cut(line: string, columns: number | undefined): string {
  return columns !== undefined && line.length > columns ? `${line.slice(0, columns - 1)}…` : line.trimEnd();
}

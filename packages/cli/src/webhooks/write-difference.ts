/** Differences for the terminal. Colours are omitted if the output is not a terminal. */

import type { AcceptList } from "@inlet/protocol";
import { styleText } from "../command-line/terminal-text.ts";
import { comparable, type FieldChange } from "./compare/changed-fields.ts";
import { lineDiff } from "./compare/line-diff.ts";

/** The direction: `apply` changes the server, `pull` the folder. */
export type Direction = "to server" | "to folder";

export function changeLines({ field, onServer, inFolder }: FieldChange, direction: Direction): string[] {
  const [from, to] = direction === "to server" ? [onServer, inFolder] : [inFolder, onServer];
  if (field === "transform") {
    const lines = lineDiff(String(comparable(from)), String(comparable(to)));
    return ["transform:", ...indented(2, lines.map(diffLine))];
  }
  if (field === "verify" || field === "handshake" || field === "answer" || field === "mirror") {
    return [`${field}: ${writtenSetting(from)} -> ${writtenSetting(to)}`];
  }
  return [`${field}: ${written(from)} -> ${written(to)}`];
}

/** Secrets are names here, or the last characters that the server shows. */
export function writtenSetting(value: unknown): string {
  return value === null ? "none" : JSON.stringify(value);
}

export function written(value: unknown): string {
  if (value === null) return "everything";
  if (typeof value !== "object") return JSON.stringify(value);
  const { mode, list } = value as AcceptList;
  return `${mode} ${list.length > 0 ? list.join(", ") : "nothing"}`;
}

export function diffLine(line: string): string {
  if (line.startsWith("+")) return styleText("green", line);
  if (line.startsWith("-")) return styleText("red", line);
  return line.startsWith("@") ? styleText("cyan", line) : line;
}

export function indented(spaces: number, lines: readonly string[]): string[] {
  return lines.flatMap((line) => line.split("\n")).map((line) => (line === "" ? "" : `${" ".repeat(spaces)}${line}`));
}

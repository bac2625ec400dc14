/** A step as text. Colours are omitted if the output is not a terminal. */

import { styleText } from "../command-line/terminal-text.ts";
import { lineDiff } from "./line-diff.ts";
import type { Step, Tense } from "./object-kind.ts";

type Action = Step<unknown, unknown>["action"];

const VERBS = {
  "to do": { create: "create", change: "change", delete: "delete" },
  done: { create: "created", change: "changed", delete: "deleted" },
} as const;
const STYLES = { create: ["+", "green"], change: ["~", "yellow"], delete: ["-", "red"] } as const;

export function stepLines(action: Action, tense: Tense, heading: string, details: readonly string[]): string[] {
  const [sign, colour] = STYLES[action];
  return [styleText(colour, `${sign} ${VERBS[tense][action]} ${heading}`), ...indented(4, details)];
}

/** The lines of a text that change, coloured. */
export function textDifference(field: string, from: string, to: string): string[] {
  return [`${field}:`, ...indented(2, lineDiff(from, to).map(diffLine))];
}

export function diffLine(line: string): string {
  if (line.startsWith("+")) return styleText("green", line);
  if (line.startsWith("-")) return styleText("red", line);
  return line.startsWith("@") ? styleText("cyan", line) : line;
}

export function indented(spaces: number, lines: readonly string[]): string[] {
  return lines.flatMap((line) => line.split("\n")).map((line) => (line === "" ? "" : `${" ".repeat(spaces)}${line}`));
}

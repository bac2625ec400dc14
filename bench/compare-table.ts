/** What a comparison of two checkouts came to, as a table in Markdown, as bench/RESULTS.md keeps it. */

import { median, written } from "./report.ts";

/** What was measured in turn: one result of each for every round. */
export interface Rounds<Result = number> {
  old: Result[];
  new: Result[];
  /** What the floor is a share of, where it is one. */
  bare: number[];
}

export interface Compared {
  what: string;
  unit: string;
  rounds: Rounds;
  floor?: Floor;
}

/** What design.md asks of the new checkout. */
export type Floor =
  /** Of what the bare counterpart does in the same round. */
  { shareMin: number; of: string } | { min: number } | { max: number };

/** One figure of what was measured. */
export function figureOf<Result>({ old, new: newer, bare }: Rounds<Result>, pick: (result: Result) => number): Rounds {
  return { old: old.map(pick), new: newer.map(pick), bare };
}

const HEAD = ["", "unit", "old", "new", "new / old", "floor", "new beside its floor"];

export function comparedTable(rows: readonly Compared[]): string {
  return markdown([HEAD, ...rows.map(cells)]);
}

export function markdown(lines: readonly (readonly string[])[]): string {
  const widths = (lines[0] ?? []).map((_, column) => Math.max(...lines.map((line) => (line[column] ?? "").length)));
  const text = (line: readonly string[]) => `| ${line.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(" | ")} |`;
  const [head = [], ...rest] = lines.map(text);
  return [head, `|${widths.map((width) => "-".repeat(width + 2)).join("|")}|`, ...rest].join("\n");
}

function cells({ what, unit, rounds, floor }: Compared): string[] {
  const newer = median(rounds.new);
  return [
    what,
    unit,
    written(median(rounds.old)),
    written(newer),
    written(ratio(rounds.new, rounds.old)),
    ...floorCells(rounds, newer, floor),
  ];
}

function floorCells(rounds: Rounds, newer: number, floor: Floor | undefined): [floor: string, outcome: string] {
  if (!floor) return ["", ""];
  if ("min" in floor) return [`≥ ${floor.min}`, outcome(newer, newer >= floor.min)];
  if ("max" in floor) return [`≤ ${floor.max}`, outcome(newer, newer <= floor.max)];
  const share = ratio(rounds.new, rounds.bare);
  return [`≥ ${floor.shareMin} of ${floor.of}`, outcome(share, share >= floor.shareMin)];
}

function outcome(value: number, isMet: boolean): string {
  return `${written(value)} ${Number.isNaN(value) ? "" : isMet ? "reached" : "MISSED"}`.trimEnd();
}

/** Of the figures of one round, then the median: a slow spell of the machine hits what is measured in the same round alike. */
function ratio(ours: readonly number[], theirs: readonly number[]): number {
  return median(ours.map((figure, round) => figure / (theirs[round] ?? Number.NaN)));
}

/** Help texts, generated from the command rows. */

import { type CommandGroup, type CommandRow, exitsOf, type Flag } from "./command-row.ts";

export function overview(rows: readonly CommandRow[], groups: readonly CommandGroup[]): string {
  return `Inlet receives events, stores them, and runs the functions that subscribe to them.

Usage: inlet <command> [flags]

${columns(firstWords(rows, groups).map(([word, sentence]) => [`inlet ${word}`, sentence] as const))}

Examples:
${columns([
  ["inlet dev", "start a dev server"],
  [`inlet send --name shop/order.created --data '{"orderId":4711}'`, "send an event"],
  ["inlet events tail", "print events as they arrive"],
])}

Run inlet <command> --help for details. Colours are disabled when the output is not a terminal or NO_COLOR is set.`;
}

/** Help for a group of commands, such as `inlet events`. */
export function groupHelp({ word, sentence }: CommandGroup, rows: readonly CommandRow[]): string {
  const inGroup = rows.filter(({ words }) => words[0] === word);
  return `${sentence}

Usage: inlet ${word} <command> [flags]

${columns(inGroup.map((row) => [row.words.slice(1).join(" "), row.sentence] as const))}

Examples:
${columns(inGroup.flatMap(({ examples }) => examples.slice(0, 1)))}

Run inlet ${word} <command> --help for details.`;
}

export function commandHelp(row: CommandRow, rows: readonly CommandRow[] = []): string {
  const { sentence, more, flags, examples, words } = row;
  const below = rows.filter((other) => other !== row && words.every((word, at) => other.words[at] === word));
  return `${sentence}

Usage: ${usageOf(row)}
${below.length > 0 ? `\nCommands:\n${columns(below.map((other) => [`inlet ${other.words.join(" ")}`, other.sentence] as const))}\n` : ""}${more ? `\n${more}\n` : ""}
Flags:
${columns(Object.entries(flags).map(([name, flag]) => flagRow(name, flag)))}

Examples:
${columns(examples)}

Exit codes:
${columns(exitsOf(row).map(([code, meaning]) => [String(code), meaning] as const))}`;
}

/** `dev` and `start`, whose flags are the settings of the service. */
export function serviceHelp(row: CommandRow, settings: string): string {
  const own = Object.entries(row.flags).map(([name, flag]) => flagRow(name, flag));
  return `${row.sentence}

Usage: ${usageOf(row)}
${row.more ? `\n${row.more}\n` : ""}
Each flag has a variable, shown in brackets with its default; the flag wins.

${own.length > 0 ? `${columns(own)}\n` : ""}${settings}

Examples:
${columns(row.examples)}

Exit codes:
${columns(exitsOf(row).map(([code, meaning]) => [String(code), meaning] as const))}`;
}

export function usageOf({ words, operands }: CommandRow): string {
  return ["inlet", ...words, ...(operands ? [operands] : []), "[flags]"].join(" ");
}

/** Each first word once, in the order of the table. */
function firstWords(rows: readonly CommandRow[], groups: readonly CommandGroup[]): [string, string][] {
  const seen = new Map<string, string>();
  for (const { words } of rows) {
    const word = words[0] as string;
    if (!seen.has(word)) seen.set(word, groups.find((group) => group.word === word)?.sentence ?? sentenceOf(rows, word));
  }
  return [...seen];
}

/** That of the command itself, with the names of commands below it: `types` is a command and has `types check`. */
function sentenceOf(rows: readonly CommandRow[], word: string): string {
  const own = rows.find(({ words }) => words.length === 1 && words[0] === word);
  const below = rows.flatMap(({ words }) => (words[0] === word && words[1] ? [words.join(" ")] : []));
  return `${own?.sentence ?? ""}${below.length > 0 ? ` Also: ${below.join(", ")}.` : ""}`;
}

export function flagRow(name: string, { placeholder, many, variable, fallback, choices, sentence }: Flag): readonly [string, string] {
  const notes = [variable, fallback && `default ${fallback}`, many && "can be repeated"].filter(Boolean);
  const value = choices ? choices.join("|") : placeholder;
  return [`--${name}${value ? ` <${value}>` : ""}`, `${sentence}${notes.length > 0 ? ` [${notes.join(", ")}]` : ""}`];
}

export function columns(rows: readonly (readonly [string, string])[]): string {
  const width = Math.min(44, Math.max(...rows.map(([left]) => left.length))) + 2;
  // A left side that is wider than the column gets its own line.
  return rows
    .map(([left, right]) => (left.length > width - 2 ? `  ${left}\n  ${" ".repeat(width)}${right}` : `  ${left.padEnd(width)}${right}`))
    .join("\n");
}

/** Help on a terminal, written from the table of commands. */

import { COMMANDS, type CommandName, type CommandRow, FLAGS, type Flag, type FlagName } from "./command-table.ts";

export function overview(): string {
  const rows = Object.entries(COMMANDS).map(([name, { sentence }]) => [name, sentence] as const);
  return `Keeps webhooks as files: a folder with a transform, settings and fixtures for each.

Usage: inlet webhooks <command> [flags]

${columns(rows)}

Examples:
  inlet webhooks new --from stripe    start with a provider's transform and fixtures
  inlet webhooks test                 run the fixtures, offline
  inlet webhooks plan                 see what would change on the server
  inlet webhooks apply                change it

inlet webhooks <command> --help tells more of each.`;
}

export function helpFor(name: CommandName): string {
  const { usage, sentence, more, flags, examples, exits }: CommandRow = COMMANDS[name];
  return `${sentence}

Usage: inlet webhooks ${usage} [flags]

${more}

Flags:
${columns(flags.map(flagRow))}

Examples:
${columns(examples)}

Exit codes:
${columns(exits.map(([code, meaning]) => [String(code), meaning] as const))}`;
}

function flagRow(name: FlagName): readonly [string, string] {
  const { placeholder, variable, fallback, sentence }: Flag = FLAGS[name];
  const notes = [variable, fallback && `default ${fallback}`].filter(Boolean);
  return [`--${name}${placeholder ? ` <${placeholder}>` : ""}`, `${sentence}${notes.length > 0 ? ` [${notes.join(", ")}]` : ""}`];
}

export function columns(rows: readonly (readonly [string, string])[]): string {
  const width = Math.max(...rows.map(([left]) => left.length)) + 2;
  return rows.map(([left, right]) => `  ${left.padEnd(width)}${right}`).join("\n");
}

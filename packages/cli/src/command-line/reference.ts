/** docs/reference/cli.md, generated from the command table. */

import { type CommandGroup, type CommandRow, exitsOf, type Flag, USUAL_EXITS } from "./command-row.ts";
import { usageOf } from "./help.ts";

export function cliMarkdown(rows: readonly CommandRow[], groups: readonly CommandGroup[]): string {
  return `# CLI

[Install](../how-to/install.md) adds the command \`inlet\`. \`inlet <command> --help\` prints the same information as this page. Commands print tables. With \`--json\` they print JSON for scripts;
commands that keep running print one value per line (NDJSON). Errors go to standard error and, with \`--json\`, also to standard output as
\`{"error":"…","code":"…"}\`. Colours are used only in a terminal, unless \`NO_COLOR\` is set.

A flag takes precedence over its variable. Write times as a duration before now (\`15m\`, \`2h\`, \`7d\`), ISO 8601 or milliseconds.

## Exit codes

| code | meaning |
|---|---|
${USUAL_EXITS.map(([code, meaning]) => `| ${code} | ${meaning} |`).join("\n")}

Commands with other exit codes list them below.

## Commands

${rows.map((row) => `- [\`inlet ${row.words.join(" ")}\`](#${anchor(row)}): ${row.sentence}`).join("\n")}

${rows.map((row, i) => `${groupHeading(rows, groups, i)}${section(row)}`).join("\n")}`;
}

/** The sentence of a group precedes its first command. */
function groupHeading(rows: readonly CommandRow[], groups: readonly CommandGroup[], i: number): string {
  const word = rows[i]?.words[0];
  const group = groups.find((candidate) => candidate.word === word);
  return group && rows[i - 1]?.words[0] !== word ? `## ${group.word}\n\n${group.sentence}\n\n` : "";
}

function section(row: CommandRow): string {
  const { words, sentence, more, flags, settings, examples } = row;
  const level = words.length === 1 ? "##" : "###";
  const own = Object.entries(flags);
  return [
    `${level} inlet ${words.join(" ")}`,
    "",
    sentence,
    ...(more ? ["", more.replaceAll("\n", " ")] : []),
    "",
    "```",
    usageOf(row),
    "```",
    ...(settings ? ["", "The flags are the settings in [configuration.md](configuration.md)."] : []),
    ...(own.length > 0 ? ["", "| flag | variable | default | description |", "|---|---|---|---|", ...own.map(flagLine)] : []),
    "",
    ...examples.map(([command, meaning]) => `- \`${command}\`: ${meaning}`),
    ...(row.exits
      ? [
          "",
          `Exit codes: ${exitsOf(row)
            .map(([code, meaning]) => `${code} ${meaning}`)
            .join("; ")}.`,
        ]
      : []),
    "",
  ].join("\n");
}

function flagLine([name, { placeholder, choices, many, variable, fallback, sentence }]: [string, Flag]): string {
  const value = choices ? ` <${choices.join("\\|")}>` : placeholder ? ` <${placeholder}>` : "";
  const cells = [`\`--${name}${value}\``, variable ? `\`${variable}\`` : "", fallback ? `\`${fallback}\`` : ""];
  return `| ${cells.join(" | ")} | ${sentence}${many ? " Can be repeated." : ""} |`;
}

function anchor({ words }: CommandRow): string {
  return `inlet-${words.join("-")}`;
}

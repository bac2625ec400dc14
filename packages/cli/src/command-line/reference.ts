/** docs/cli.md, written from the table of commands. */

import { type CommandGroup, type CommandRow, exitsOf, type Flag, USUAL_EXITS } from "./command-row.ts";
import { usageOf } from "./help.ts";

export function cliMarkdown(rows: readonly CommandRow[], groups: readonly CommandGroup[]): string {
  return `# The command line

\`inlet <command> --help\` tells the same as this page. Commands print tables for people; with \`--json\` they print JSON for scripts, and
those that go on print one value per line (NDJSON). An error goes to standard error, and with \`--json\` also to standard output as
\`{"error":"…","code":"…"}\`. Colours appear on a terminal only, and not when \`NO_COLOR\` is set.

A flag wins over its variable. Times are written as a time ago (\`15m\`, \`2h\`, \`7d\`), ISO 8601 or milliseconds.

## Exit codes

| code | meaning |
|---|---|
${USUAL_EXITS.map(([code, meaning]) => `| ${code} | ${meaning} |`).join("\n")}

Commands with codes of their own say so below.

## Commands

${rows.map((row) => `- [\`inlet ${row.words.join(" ")}\`](#${anchor(row)}): ${row.sentence}`).join("\n")}

${rows.map((row, i) => `${groupHeading(rows, groups, i)}${section(row)}`).join("\n")}`;
}

/** A group's sentence stands before its first command. */
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
    ...(settings ? ["", "Its flags are the settings in [configuration.md](configuration.md)."] : []),
    ...(own.length > 0 ? ["", "| flag | variable | default | |", "|---|---|---|---|", ...own.map(flagLine)] : []),
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
  return `| ${cells.join(" | ")} | ${sentence}${many ? " May be given several times." : ""} |`;
}

function anchor({ words }: CommandRow): string {
  return `inlet-${words.join("-")}`;
}

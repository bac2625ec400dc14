/** The settings as text: `--help` in a terminal, and the table in docs/reference/configuration.md. */

import { flagOf, type Mode, SETTINGS, type Setting, shownDefault, variableOf } from "./settings.ts";

const rows = Object.entries(SETTINGS) as [string, Setting<unknown>][];

export function settingsHelp(mode: Mode): string {
  const usage = rows.map(([name, { reading }]) => `${flagOf(name)} <${reading.placeholder}>`);
  const width = Math.max(...usage.map((flag) => flag.length)) + 2;
  return rows
    .map(([name, setting], i) => {
      const indent = " ".repeat(width + 2);
      return `  ${usage[i]?.padEnd(width)}${setting.sentence}\n${indent}[${variableOf(name)}, default ${shownDefault(setting, mode)}]`;
    })
    .join("\n");
}

/** Every setting as a flag and a variable, for completion and for detecting unknown names. */
export function settingsNames(): { flag: string; variable: string; placeholder: string; sentence: string }[] {
  return rows.map(([name, { reading, sentence }]) => ({
    flag: flagOf(name),
    variable: variableOf(name),
    placeholder: reading.placeholder,
    sentence,
  }));
}

export function settingsMarkdown(): string {
  const lines = rows.map(([name, setting]) => {
    const [dev, start] = [shownDefault(setting, "dev"), shownDefault(setting, "start")];
    const fallback = dev === start ? `\`${start}\`` : `\`${start}\` (dev: \`${dev}\`)`;
    const value = setting.reading.placeholder.replaceAll("|", "\\|");
    return `| \`${flagOf(name)}\` | \`${variableOf(name)}\` | ${value} | ${fallback} | ${setting.sentence}${setting.secret ? " Secret." : ""} |`;
  });
  return ["| flag | variable | value | default | meaning |", "|---|---|---|---|---|", ...lines].join("\n");
}

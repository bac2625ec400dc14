/** `inlet completion`: prints a self-contained script, so that pressing Tab starts no process. */

import { settingsNames } from "@inlet/server";
import { type CommandResult, EXIT } from "../command-line/command-result.ts";
import type { Call, CommandRow, Flags } from "../command-line/command-row.ts";
import { bashScript } from "./bash.ts";
import { completionTree } from "./completion-tree.ts";
import { fishScript } from "./fish.ts";
import { zshScript } from "./zsh.ts";

const SCRIPTS = { bash: bashScript, zsh: zshScript, fish: fishScript } as const;

export async function printCompletion({ names, table }: Call<Flags>): Promise<CommandResult> {
  const script = SCRIPTS[names[0] as keyof typeof SCRIPTS](completionTree(table.rows.map(withSettings), table.groups));
  return { exitCode: EXIT.ok, text: script.trimEnd(), json: null };
}

/** The flags of `dev` and `start` are the settings of the service. */
export function withSettings(row: CommandRow): CommandRow {
  if (!row.settings) return row;
  const settings = settingsNames().map(({ flag, placeholder, sentence }): [string, Flags[string]] => {
    const choices = /^[a-z]+(\|[a-z]+)+$/.test(placeholder) ? { choices: placeholder.split("|") } : {};
    return [flag.slice(2), { type: "string", placeholder, sentence, ...choices }];
  });
  return { ...row, flags: { ...row.flags, ...Object.fromEntries(settings) } };
}

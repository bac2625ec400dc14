/**
 * `inlet webhooks …`: finds the sub-command, runs it, prints what it came to.
 * Exit codes: 0 done, 1 something went wrong (also a mistake in the flags), 2 the two sides differ (`plan`, `pull`).
 */

import { CommandFault } from "./command-fault.ts";
import { type CommandResult, EXIT } from "./command-result.ts";
import { COMMANDS, type CommandName } from "./command-table.ts";
import { applyWebhooks } from "./commands/apply.ts";
import { newWebhook } from "./commands/new.ts";
import { planWebhooks } from "./commands/plan.ts";
import { pullWebhooks } from "./commands/pull.ts";
import { testWebhooks } from "./commands/test.ts";
import { helpFor, overview } from "./help.ts";
import { type Options, readOptions, type Variables } from "./read-options.ts";

const RUN: Record<CommandName, (options: Options) => Promise<CommandResult>> = {
  new: newWebhook,
  test: testWebhooks,
  pull: pullWebhooks,
  plan: planWebhooks,
  apply: applyWebhooks,
};

export async function runWebhooks([given, ...argv]: readonly string[], variables: Variables): Promise<number> {
  if (given === undefined || given === "help" || given === "--help" || given === "-h") return print(overview());
  if (!isCommand(given)) {
    console.error(`inlet webhooks: there is no command "${given}"\n\n${overview()}`);
    return EXIT.failed;
  }
  if (argv.includes("--help") || argv.includes("-h")) return print(helpFor(given));
  try {
    const options = readOptions(given, argv, variables);
    const { exitCode, text, json } = await RUN[given](options);
    print(options.json ? JSON.stringify(json, null, 2) : text);
    return exitCode;
  } catch (error) {
    const fault = asFault(error);
    if (argv.includes("--json")) print(JSON.stringify({ error: fault.message, code: fault.code }, null, 2));
    // Without a prefix: terminals and CI make a link of a line that begins with file:line:column.
    console.error(fault.message);
    return EXIT.failed;
  }
}

/** A file that cannot be written is for the person to mend; everything else unexpected keeps its stack. */
function asFault(error: unknown): CommandFault {
  if (error instanceof CommandFault) return error;
  const { path, message } = error as NodeJS.ErrnoException;
  if (path === undefined) throw error;
  return new CommandFault(`${path} cannot be written: ${message}`);
}

function isCommand(name: string): name is CommandName {
  return Object.hasOwn(COMMANDS, name);
}

function print(text: string): number {
  console.log(text);
  return EXIT.ok;
}

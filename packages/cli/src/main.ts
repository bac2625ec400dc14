/** The `inlet` command: finds the command a person means and runs it. */

import { runService, settingsHelp } from "@inlet/server";
import packageFile from "../package.json" with { type: "json" };

const HELP = `Inlet receives events, keeps them, and hands them on.

Usage: inlet <command> [flags]

  inlet dev      run on a developer's machine: any key is accepted, loopback only
  inlet start    run as a service: keys are checked

inlet <command> --help lists the flags of a command.`;

const COMMANDS = ["dev", "start"] as const;
type Command = (typeof COMMANDS)[number];

const [given, ...argv] = process.argv.slice(2);
process.exitCode = await run(given, argv);

async function run(name: string | undefined, flags: string[]): Promise<number> {
  if (name === undefined || name === "help" || name === "--help" || name === "-h") return print(HELP);
  if (name === "--version" || name === "-v") return print(packageFile.version);
  const command = COMMANDS.find((candidate) => candidate === name);
  if (!command) {
    console.error(`inlet: there is no command "${name}"\n\n${HELP}`);
    return 2;
  }
  if (flags.includes("--help") || flags.includes("-h")) return print(helpFor(command));
  return runService(command, flags);
}

function helpFor(command: Command): string {
  return `Usage: inlet ${command} [flags]\n\nEach flag has a variable, shown in brackets with its default; the flag wins.\n\n${settingsHelp(command)}`;
}

function print(text: string): number {
  console.log(text);
  return 0;
}

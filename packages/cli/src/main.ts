/** The `inlet` command: finds the command a person means and runs it. Each loads only what it needs. */

import packageFile from "../package.json" with { type: "json" };

const HELP = `Inlet receives events, keeps them, and hands them on.

Usage: inlet <command> [flags]

  inlet dev        run on a developer's machine: any key is accepted, loopback only
  inlet start      run as a service: keys are checked
  inlet webhooks   keep webhooks as files: new, test, pull, plan, apply

inlet <command> --help lists the flags of a command.`;

const SERVICE_COMMANDS = ["dev", "start"] as const;
type ServiceCommand = (typeof SERVICE_COMMANDS)[number];

const [given, ...argv] = process.argv.slice(2);
process.exitCode = await run(given, argv);

async function run(name: string | undefined, flags: string[]): Promise<number> {
  if (name === undefined || name === "help" || name === "--help" || name === "-h") return print(HELP);
  if (name === "--version" || name === "-v") return print(packageFile.version);
  if (name === "webhooks") return (await import("./webhooks/webhooks-command.ts")).runWebhooks(flags, process.env);
  const command = SERVICE_COMMANDS.find((candidate) => candidate === name);
  if (!command) {
    console.error(`inlet: there is no command "${name}"\n\n${HELP}`);
    return 2;
  }
  const { runService, settingsHelp } = await import("@inlet/server");
  if (flags.includes("--help") || flags.includes("-h")) return print(helpFor(command, settingsHelp(command)));
  return runService(command, flags);
}

function helpFor(command: ServiceCommand, settings: string): string {
  return `Usage: inlet ${command} [flags]\n\nEach flag has a variable, shown in brackets with its default; the flag wins.\n\n${settings}`;
}

function print(text: string): number {
  console.log(text);
  return 0;
}

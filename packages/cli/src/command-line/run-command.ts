/** Finds a command, runs it, prints its result and returns the exit code. */

import { nearest } from "@inlet/protocol";
import { CommandFault, writeFault } from "./command-fault.ts";
import { type CommandResult, EXIT, JsonText } from "./command-result.ts";
import { type CommandGroup, type CommandRow, type CommandTable, exitsOf, type Io } from "./command-row.ts";
import { commandHelp, groupHelp, overview, serviceHelp } from "./help.ts";
import { withOtherEnvironment } from "./other-environment.ts";
import { readOptions } from "./read-options.ts";

const HELP_WORDS: ReadonlySet<string> = new Set(["--help", "-h"]);

export async function runCommand(table: CommandTable, argv: readonly string[], io: Io): Promise<number> {
  const { rows, groups } = table;
  // `inlet help events list` is `inlet events list --help`.
  const words = argv[0] === "help" ? [...argv.slice(1), "--help"] : argv;
  const row = rows.find((candidate) => candidate.words.every((word, i) => words[i] === word));
  if (row) return runRow(row, words.slice(row.words.length), io, table);
  const group = groups.find(({ word }) => word === words[0]);
  const unknown = words[group ? 1 : 0];
  const help = group ? groupHelp(group, rows) : overview(rows, groups);
  if (unknown === undefined || unknown === "help" || HELP_WORDS.has(unknown)) return print(io, help);
  // The help is long, and the error above it would scroll away.
  const place = group ? ` of inlet ${group.word}` : "";
  const lines = [
    `there is no command "${unknown}"${place}${meant(rows, group, unknown)}`,
    `"${group ? `inlet ${group.word}` : "inlet"} --help" lists the commands.`,
  ];
  report(new CommandFault(lines, "usage", EXIT.usage), words, io);
  return rows.find((known) => known.words[0] === group?.word)?.usageExit ?? EXIT.usage;
}

async function runRow(row: CommandRow, argv: readonly string[], io: Io, table: CommandTable): Promise<number> {
  if (argv.some((word) => HELP_WORDS.has(word))) return print(io, await helpOf(row, table));
  try {
    const call = row.settings ? { options: {}, names: [...argv] } : readOptions(row, argv, io.variables);
    const options = await withOtherEnvironment(row, call.options, io);
    const { exitCode, text, json } = await row.run({ ...call, options, io, table });
    if (text !== null) print(io, (call.options as { json?: boolean }).json ? jsonText(json) : text);
    return exitCode;
  } catch (error) {
    const fault = asFault(error);
    report(fault, argv, io);
    return fault.exitCode === EXIT.usage ? (row.usageExit ?? EXIT.usage) : listed(row, fault.exitCode);
  }
}

function report(fault: CommandFault, argv: readonly string[], io: Io): void {
  const code = fault.code ?? (fault.exitCode === EXIT.usage ? "usage" : null);
  if (argv.includes("--json")) print(io, jsonText({ error: fault.message, code }));
  writeFault(io.err, fault);
}

async function helpOf(row: CommandRow, { rows }: CommandTable): Promise<string> {
  if (!row.settings) return commandHelp(row, rows);
  const { settingsHelp } = await import("@inlet/server");
  return serviceHelp(row, settingsHelp(row.settings));
}

function listed(row: CommandRow, code: number): number {
  return exitsOf(row).some(([known]) => known === code) ? code : EXIT.failed;
}

function jsonText(json: CommandResult["json"]): string {
  return json instanceof JsonText ? json.text : JSON.stringify(json, null, 2);
}

/** A file error is for the user to fix. Other unexpected errors show their stack trace. */
function asFault(error: unknown): CommandFault {
  if (error instanceof CommandFault) return error;
  const { path, message, stack } = error as NodeJS.ErrnoException;
  if (path === undefined) return new CommandFault(stack ?? String(error));
  return new CommandFault(message.includes(path) ? message : `${path}: ${message}`);
}

function meant(rows: readonly CommandRow[], group: CommandGroup | undefined, given: string): string {
  const known = rows.filter(({ words }) => !group || words[0] === group.word).map(({ words }) => words[group ? 1 : 0] as string);
  const near = nearest(given, [...new Set(known)]);
  return near ? `; did you mean "${near}"?` : "";
}

function print(io: Io, text: string): number {
  io.out.write(`${text}\n`);
  return EXIT.ok;
}

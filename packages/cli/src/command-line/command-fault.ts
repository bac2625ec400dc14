/** An error that the user can fix. It is printed without a stack trace, after the prefix that every error of every command has. */

import type { Writable } from "node:stream";
import { EXIT } from "./command-result.ts";

export class CommandFault extends Error {
  readonly lines: readonly string[];
  /** The error code, if the service refused the request. */
  readonly code: string | null;
  readonly exitCode: number;
  /** Each line is an error of its own. Otherwise the lines after the first say more about it. */
  readonly isList: boolean;

  constructor(lines: string | readonly string[], code: string | null = null, exitCode: number = EXIT.failed, isList = false) {
    const all = typeof lines === "string" ? [lines] : lines;
    super(all.join("\n"));
    this.name = "CommandFault";
    this.lines = all;
    this.code = code;
    this.exitCode = exitCode;
    this.isList = isList;
  }
}

export function stopOn(faults: readonly string[]): void {
  if (faults.length > 0) throw new CommandFault(faults, null, EXIT.failed, true);
}

/** The one place that prints errors. */
export function writeFault(err: Pick<Writable, "write">, { lines, isList }: Pick<CommandFault, "lines" | "isList">): void {
  err.write(lines.map((line, i) => (i === 0 || isList ? `error: ${line}\n` : `${line}\n`)).join(""));
}

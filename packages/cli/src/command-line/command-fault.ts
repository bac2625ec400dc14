/** An error that the user can fix. Its lines are printed without a stack trace. */

import { EXIT } from "./command-result.ts";

export class CommandFault extends Error {
  readonly lines: readonly string[];
  /** The error code, if the service refused the request. */
  readonly code: string | null;
  readonly exitCode: number;

  constructor(lines: string | readonly string[], code: string | null = null, exitCode: number = EXIT.failed) {
    const all = typeof lines === "string" ? [lines] : lines;
    super(all.join("\n"));
    this.name = "CommandFault";
    this.lines = all;
    this.code = code;
    this.exitCode = exitCode;
  }
}

export function stopOn(faults: readonly string[]): void {
  if (faults.length > 0) throw new CommandFault(faults);
}

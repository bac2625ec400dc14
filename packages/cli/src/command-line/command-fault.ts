/** A reason to stop that a person can do something about. Its lines are printed as they are, without a stack. */

import { EXIT } from "./command-result.ts";

export class CommandFault extends Error {
  readonly lines: readonly string[];
  /** The service's own code, where the service refused. */
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

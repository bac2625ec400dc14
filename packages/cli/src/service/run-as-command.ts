/** Runs the service as a command: its errors are printed like those of every command. */

import { runService, ServiceFailed } from "@inlet/server";
import { CommandFault } from "../command-line/command-fault.ts";
import { type CommandResult, written } from "../command-line/command-result.ts";

export async function runAsCommand(mode: "dev" | "start", argv: readonly string[]): Promise<CommandResult> {
  try {
    return written(await runService(mode, argv));
  } catch (error) {
    if (!(error instanceof ServiceFailed)) throw error;
    throw new CommandFault(error.messages, null, error.exitCode, true);
  }
}

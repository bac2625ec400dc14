/** Runs the service as a command: its errors are printed like those of every command, and it ends when it is asked to. */

import { CommandFault } from "../command-line/command-fault.ts";
import { type CommandResult, EXIT, written } from "../command-line/command-result.ts";

export async function runAsCommand(mode: "dev" | "start", argv: readonly string[]): Promise<CommandResult> {
  const asked = untilSignalled();
  let isListening = false;
  // Like a crash, this loses nothing. Once requests are accepted and first keys are created, the start is completed instead.
  asked.then(() => isListening || process.exit(EXIT.ok));
  const { runService, ServiceFailed } = await import("@inlet/server");
  try {
    return written(await runService(mode, argv, { asked, onListening: () => (isListening = true) }));
  } catch (error) {
    if (!(error instanceof ServiceFailed)) throw error;
    throw new CommandFault(error.messages, null, error.exitCode, true);
  }
}

/**
 * Called before the service is loaded, which takes a moment: the first process of a container never learns of a signal for which it has no
 * handler. A second signal ends the process at once, as without one.
 */
function untilSignalled(): Promise<void> {
  return new Promise((resolve) => {
    for (const signal of ["SIGTERM", "SIGINT"] as const) process.once(signal, () => resolve());
  });
}

/** `inlet dev`: runs a dev server; with --ephemeral, in a temporary folder. */

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { CommandFault } from "../command-line/command-fault.ts";
import { type CommandResult, EXIT } from "../command-line/command-result.ts";
import type { Call, Flags, Variables } from "../command-line/command-row.ts";
import { readVariable } from "../command-line/read-options.ts";
import { runAsCommand } from "./run-as-command.ts";

const EPHEMERAL = "--ephemeral";

export async function runDev({ names: argv, io }: Call<Flags>): Promise<CommandResult> {
  const asked = argv.includes(EPHEMERAL) || isTrue("INLET_EPHEMERAL", io.variables);
  const settings = argv.filter((word) => word !== EPHEMERAL);
  if (!asked) return runAsCommand("dev", settings);
  if (settings.some((word) => /^--data-dir(=|$)/.test(word))) {
    throw new CommandFault("Use either --ephemeral or --data-dir, not both.", "usage", EXIT.usage);
  }
  const folder = mkdtempSync(join(tmpdir(), "inlet-dev-"));
  // However it ends: a service that is stopped during its start, or by a fault, ends the process itself.
  process.once("exit", () => rmSync(folder, { recursive: true, force: true }));
  return runAsCommand("dev", [...settings, "--data-dir", folder]);
}

/** Any other value would keep data that was to be temporary. */
function isTrue(variable: string, variables: Variables): boolean {
  const value = readVariable(variable, variables)?.trim() || "false";
  if (value === "true" || value === "false") return value === "true";
  throw new CommandFault(`${variable} must be true or false, not "${value}".`, "usage", EXIT.usage);
}

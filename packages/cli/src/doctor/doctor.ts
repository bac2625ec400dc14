/** `inlet doctor`: runs all checks and prints findings with suggested fixes. */

import { type CommandResult, EXIT } from "../command-line/command-result.ts";
import type { Call } from "../command-line/command-row.ts";
import { readVariable } from "../command-line/read-options.ts";
import { styleText } from "../command-line/terminal-text.ts";
import { checkApp } from "./check-app.ts";
import { checkData, checkFolder, checkNode, checkPort, checkSettings } from "./check-machine.ts";
import { checkService, isInlet, probe } from "./check-service.ts";
import type { DOCTOR_FLAGS } from "./doctor-flags.ts";
import type { Finding } from "./finding.ts";

const COLOURS = { ok: "green", note: "cyan", warning: "yellow", problem: "red", skipped: "dim" } as const;
const STATUS_UNITS = 9;

export async function doctor({ options, io }: Call<typeof DOCTOR_FLAGS>): Promise<CommandResult> {
  if (options.app !== null) return report(await checkApp(options.app, options.signingKey));
  return report([
    checkNode(),
    ...checkSettings(io.variables),
    ...checkFolder(options.dataDir),
    ...(options.data ? [checkData(options.dataDir, Boolean(readVariable("INLET_DATABASE_URL", io.variables)))] : []),
    await checkPort(Number(options.port), async (url) => {
      const probed = await probe(`${url}/health`);
      return typeof probed !== "string" && isInlet(probed);
    }),
    // A folder is verified before a service uses it, too.
    ...(await checkService(options, options.key, options.data)),
  ]);
}

function report(findings: readonly Finding[]): CommandResult {
  const problems = findings.filter(({ status }) => status === "problem").length;
  const warnings = findings.filter(({ status }) => status === "warning").length;
  return {
    exitCode: problems > 0 ? EXIT.failed : EXIT.ok,
    text: [...findings.flatMap(lines), "", summary(problems, warnings)].join("\n"),
    json: { ok: problems === 0, problems, warnings, checks: findings },
  };
}

function lines({ check, status, message, advice }: Finding): string[] {
  const indent = " ".repeat(STATUS_UNITS);
  return [`${styleText(COLOURS[status], status.padEnd(STATUS_UNITS))}${check}: ${message}`, ...(advice ? [`${indent}-> ${advice}`] : [])];
}

function summary(problems: number, warnings: number): string {
  const count = (n: number, word: string) => `${n} ${word}${n === 1 ? "" : "s"}`;
  return problems + warnings === 0 ? "No problems found." : `${count(problems, "problem")}, ${count(warnings, "warning")}.`;
}

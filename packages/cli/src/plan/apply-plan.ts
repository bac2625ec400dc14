/**
 * Takes the steps of a plan in order. If a step fails, the steps before it remain and are printed; running the command again continues
 * from there.
 */

import { CommandFault, stopOn } from "../command-line/command-fault.ts";
import { type CommandResult, EXIT } from "../command-line/command-result.ts";
import { barText, type ProgressBar } from "../command-line/progress-bar.ts";
import type { DoneStep, Plan, PlannedStep } from "./make-plan.ts";

interface Applied {
  done: DoneStep[];
  failure: CommandFault | null;
}

export async function applyPlan(plan: Plan, bar: ProgressBar): Promise<CommandResult> {
  stopOn(plan.faults);
  // Before anything is sent: a missing variable stops the whole command.
  for (const step of plan.steps) step.check();
  const kept = plan.unchanged.flatMap(({ keep }) => keep());
  return applyResult(plan, await takeSteps(plan.steps, bar), kept);
}

async function takeSteps(steps: readonly PlannedStep[], bar: ProgressBar): Promise<Applied> {
  const done: DoneStep[] = [];
  try {
    for (const step of steps) {
      bar.show(() => barText(done.length / steps.length, `${done.length} of ${steps.length}  ${step.where}`));
      try {
        done.push(await step.take());
      } catch (error) {
        if (!(error instanceof CommandFault)) throw error;
        return { done, failure: inStep(step, error) };
      }
    }
    return { done, failure: null };
  } finally {
    bar.clear();
  }
}

function inStep({ where }: PlannedStep, { lines, code }: CommandFault): CommandFault {
  return new CommandFault(
    lines.map((line) => `${where}: ${line}`),
    code,
  );
}

function applyResult({ steps, unchanged }: Plan, { done, failure }: Applied, kept: string[]): CommandResult {
  const count = (action: PlannedStep["action"]) => done.filter((step) => step.action === action).length;
  const counted = `${count("create")} created, ${count("change")} changed, ${count("delete")} deleted, ${unchanged.length} unchanged`;
  const open = steps.length - done.length;
  const notes = [...done.flatMap((step) => step.notes), ...kept];
  return {
    exitCode: failure ? EXIT.failed : EXIT.ok,
    text: [
      ...done.flatMap(({ lines }) => [...lines, ""]),
      ...(failure ? [...failure.lines.map((line) => `failed: ${line}`), ""] : []),
      ...notes.flatMap((note) => [note, ""]),
      open > 0 ? `${counted}, ${open} not applied.` : `${counted}.`,
    ].join("\n"),
    json: {
      applied: done.map(({ json }) => json),
      failure: failure && { error: failure.message, code: failure.code },
      unchanged: unchanged.map(({ json }) => json),
    },
  };
}

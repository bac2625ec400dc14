/** The maximum size of a run. */

import type { RunError, RunState, StepWrite } from "../../store/contract/index.ts";

export const STEPS_MAX = 1_000;
export const STATE_BYTES_MAX = 32 * 1024 * 1024;

/** Why these steps cannot be added to the run; null if they can. */
export function overLimit({ run, steps }: RunState, added: readonly StepWrite[]): RunError | null {
  const count = steps.length + added.filter(({ id }) => !steps.some((step) => step.id === id)).length;
  if (count > STEPS_MAX) return limitError(`it has more than ${STEPS_MAX} steps`);
  const bytes = added.reduce((sum, { value }) => sum + (value?.length ?? 0), run.stateBytes);
  if (bytes > STATE_BYTES_MAX) return limitError(`the results of its steps hold more than ${STATE_BYTES_MAX / 1024 / 1024} MiB`);
  return null;
}

function limitError(why: string): RunError {
  return { name: "RunTooLarge", message: `The run was ended: ${why}.` };
}

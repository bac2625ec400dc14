/** Groups consecutive steps of the same name, as a loop creates them. */

import type { RunStep } from "../api/types.ts";

/** Two steps of a name are shown without a group. */
const REPEATS_MIN = 3;

export function groupSteps(steps: readonly RunStep[]): RunStep[][] {
  const runs: RunStep[][] = [];
  for (const step of steps) {
    const last = runs.at(-1);
    if (last?.[0] && last[0].name === step.name && last[0].kind === step.kind) last.push(step);
    else runs.push([step]);
  }
  return runs.flatMap((run) => (run.length >= REPEATS_MIN ? [run] : run.map((step) => [step])));
}

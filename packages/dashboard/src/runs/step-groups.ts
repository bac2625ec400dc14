/** Steps that follow one another under one name, as a loop leaves them, make one group. */

import type { RunStep } from "../api/types.ts";

/** Two of a name are read faster than a group is opened. */
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

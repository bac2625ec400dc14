/** The subject of a call to the app: the requested step, or the steps that the function reached during it. */

import type { Run, RunCall } from "../api/types.ts";

export function callSubject({ steps, calls }: Pick<Run, "steps" | "calls">, call: RunCall): string {
  if (call.stepId !== null) return steps.find(({ id }) => id === call.stepId)?.name ?? call.stepId;
  const reached = steps.filter((step) => calls.findLast((other) => mayHaveReached(other, step)) === call);
  return reached.length === 0 ? "Function" : reached.map(({ name }) => name).join(", ");
}

/** One call may end in the millisecond in which the next one starts. The next one did not reach a step whose result it included. */
function mayHaveReached({ stepId, startedAt, endedAt, request }: RunCall, step: Run["steps"][number]): boolean {
  const at = step.startedAt;
  return stepId === null && at !== null && at >= startedAt && at <= endedAt && !request.steps.includes(step.id);
}

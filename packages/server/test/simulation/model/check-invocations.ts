/** An invocation by somebody starts one run of its function, and whoever asks again with its key is told of that run. */

import { INVOKED } from "./check-starts.ts";
import type { Evidence } from "./evidence.ts";

export function checkInvocations(evidence: Evidence, fault: (message: string) => void): void {
  for (const { functionId, n, runIds } of evidence.played.journal.invocations) {
    const told = (message: string) => fault(`invocation ${n} of ${functionId}: ${message}`);
    const started = evidence.played.runs.filter(
      (run) => run.event?.name === INVOKED && run.invoker === null && run.originalRunId === null && evidence.dataOf(run).n === n,
    );
    if (started.length !== 1) told(`it started ${started.length} runs`);
    for (const run of started) if (evidence.functionId(run) !== functionId) told(`it started a run of ${evidence.functionId(run)}`);
    if (runIds.some((id) => id !== started[0]?.id)) told(`run ${started[0]?.id} was started, and these were told: ${runIds}`);
  }
}

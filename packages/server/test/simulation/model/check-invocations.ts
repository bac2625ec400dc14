/**
 * An invocation by somebody starts one run of its function, and whoever asks again with its key is told of that run. A throttle or a rate limit
 * that was set without a deploy may hold the start, and a rate limit may drop it.
 */

import { INVOKED } from "./check-starts.ts";
import type { Evidence } from "./evidence.ts";

export function checkInvocations(evidence: Evidence, fault: (message: string) => void): void {
  for (const { functionId, n, runIds } of evidence.played.journal.invocations) {
    const told = (message: string) => fault(`invocation ${n} of ${functionId}: ${message}`);
    const started = evidence.played.runs.filter(
      (run) => run.event?.name === INVOKED && run.invoker === null && run.originalRunId === null && evidence.dataOf(run).n === n,
    );
    const rules = evidence.played.journal.functionLimits.filter((limit) => limit.functionId === functionId).map(({ rule }) => rule);
    const mayBeHeld = rules.some((rule) => rule !== "concurrency");
    if (started.length > 1 || (started.length === 0 && !rules.includes("rateLimit"))) told(`it started ${started.length} runs`);
    for (const run of started) if (evidence.functionId(run) !== functionId) told(`it started a run of ${evidence.functionId(run)}`);
    if (runIds.some((id) => id !== started[0]?.id && !(mayBeHeld && id === null)))
      told(`run ${started[0]?.id} was started, and these were told: ${runIds}`);
  }
}

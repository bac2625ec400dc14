/** Signals in SQLite: the waiting step is found, and the signal delivered to it, in one transaction. */

import type { SignalStore } from "../contract/index.ts";
import { LeaseAllocation } from "../queue/policy/lease-allocation.ts";
import type { GroupCommit } from "../sqlite/group-commit.ts";
import type { ResumeRuns } from "../waits/sqlite/resume-runs.ts";

export function signalStore({ writer, resumeRuns }: { writer: GroupCommit; resumeRuns: ResumeRuns }): SignalStore {
  return {
    signalSend: ({ environmentId, signal, value, now, lease }) =>
      writer.submit(() => {
        const allocation = new LeaseAllocation(now, lease);
        const run = resumeRuns.signal(allocation, environmentId, signal, value);
        return { runId: run?.id ?? null, leased: allocation.leased };
      }),
  };
}

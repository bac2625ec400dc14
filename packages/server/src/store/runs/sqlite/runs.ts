/** Runs in SQLite: changed by the writer, listed on the read thread. */

import type { DatabaseSync } from "node:sqlite";
import type { EnvironmentId, RunId } from "@inlet/protocol";
import type { RunRecord, RunStore } from "../../contract/index.ts";
import { LeaseAllocation } from "../../queue/policy/lease-allocation.ts";
import { sealingRequests } from "../../secrets/rows/sealed-requests.ts";
import type { SecretBox } from "../../secrets/rows/secret-box.ts";
import type { GroupCommit } from "../../sqlite/group-commit.ts";
import type { Reader } from "../../sqlite/reader.ts";
import type { AdvanceRun } from "./advance-run.ts";
import type { ChangedRuns } from "./changed-runs.ts";
import type { RunStates } from "./run-state.ts";
import type { StartRuns } from "./start-runs.ts";

export interface RunStoreParts {
  writer: GroupCommit;
  reader: Reader;
  runs: AdvanceRun;
  startRuns: StartRuns;
  states: RunStates;
  changed: ChangedRuns;
  box: SecretBox;
}

export function runStore(db: DatabaseSync, { writer, reader, runs, startRuns, states, changed, box }: RunStoreParts): RunStore {
  const environments = db.prepare("SELECT environment_id FROM environments");

  function find(id: RunId): RunRecord | null {
    for (const { environment_id } of environments.all() as { environment_id: EnvironmentId }[]) {
      const run = states.runById(environment_id, id);
      if (run) return run;
    }
    return null;
  }

  return {
    runStart: ({ environmentId, eventSequence, run, now, lease }) =>
      writer.submit(() => {
        const allocation = new LeaseAllocation(now, lease);
        const isStarted = startRuns.isStored(eventSequence);
        if (isStarted) startRuns.startForStored(allocation, environmentId, eventSequence, run);
        return { isStarted, leased: allocation.leased };
      }),
    runAdvance: ({ runNo, entry, now, lease, decide }) =>
      writer.submit(() => {
        const allocation = new LeaseAllocation(now, lease);
        const applied = runs.advance(allocation, runNo, entry, sealingRequests(box, decide));
        return { applied, leased: allocation.leased };
      }, 4),
    runNoteCall: (late) => writer.submit(() => runs.noteLateCall(late), 2),
    runContext: async ({ runNo }) => states.context(runNo),
    stepRequest: async ({ runNo, stepId }) => states.request(runNo, stepId),
    runEnd: async ({ runNo }) => states.end(runNo),
    runFind: async ({ id, environmentId }) => (environmentId === undefined ? find(id) : states.runById(environmentId, id)),
    runFailures: (params) => reader.read("runFailures", params),
    runSummaries: (params) => reader.read("runSummaries", params),
    runWatch: (listener) => changed.watch(listener),
    runGet: (params) => reader.read("runGet", params),
    runList: (params) => reader.read("runList", params),
    runCountByJob: (params) => reader.read("runCountByJob", params),
    runCountByEvent: (params) => reader.read("runCountByEvent", params),
    runTimings: (params) => reader.read("runTimings", params),
    runEndCount: (params) => reader.read("runEndCount", params),
    waitCountByFunction: (params) => reader.read("waitCountByFunction", params),
  };
}

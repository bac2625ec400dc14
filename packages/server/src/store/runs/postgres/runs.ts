/** Runs in PostgreSQL: changed by the write path of decisions (write-decisions.ts), read in batches. */

import type { CompileWhere, RunStore } from "../../contract/index.ts";
import type { Database } from "../../postgres/database.ts";
import type { GroupCommit } from "../../postgres/group-commit.ts";
import type { Notices } from "../../postgres/pending-writes.ts";
import { sealingRequests } from "../../secrets/rows/sealed-requests.ts";
import type { SecretBox } from "../../secrets/rows/secret-box.ts";
import { noteLateCall } from "./advance-run.ts";
import type { Decision, DecisionResult } from "./decisions.ts";
import { listFailures } from "./list-failures.ts";
import { listRuns } from "./list-runs.ts";
import { countByEvent, countByJob, findRun, getRun, summariseRuns } from "./read-runs.ts";
import { createRunContexts, readRunEnd, readStepRequest } from "./run-contexts.ts";
import { countEnds, countWaits, timeRuns } from "./run-figures.ts";

export interface RunStoreParts {
  database: Database;
  writer: GroupCommit<Decision, DecisionResult>;
  notify(notices: Notices): void;
  watch: RunStore["runWatch"];
  compileWhere: CompileWhere;
  box: SecretBox;
}

export function runStore({ database, writer, notify, watch, compileWhere, box }: RunStoreParts): RunStore {
  const contexts = createRunContexts(database);
  return {
    async runStart(params) {
      const traits = { environmentId: params.environmentId, rows: 3, keys: [`start ${params.run.id}`] };
      const { applied, leased } = await writer.submit({ kind: "start run", params }, traits);
      return { isStarted: applied, leased };
    },
    async runAdvance(asked) {
      const params = { ...asked, decide: sealingRequests(box, asked.decide) };
      const traits = { environmentId: params.environmentId, rows: 4, keys: [`run ${params.runNo}`] };
      const { applied, leased } = await writer.submit({ kind: "advance", params }, traits);
      return { applied, leased };
    },
    runNoteCall: async (late) => notify(await noteLateCall(database, late)),
    runContext: ({ environmentId, runNo }) => contexts.load(environmentId, runNo),
    stepRequest: (params) => readStepRequest(database, box, params),
    runEnd: (key) => readRunEnd(database, key),
    runFind: (params) => findRun(database, params),
    runGet: (params) => getRun(database, params),
    runSummaries: (params) => summariseRuns(database, params),
    runWatch: watch,
    runFailures: (params) => listFailures(database, params),
    runList: (params) => listRuns(database, params, compileWhere),
    runCountByJob: (params) => countByJob(database, params),
    runCountByEvent: (params) => countByEvent(database, params),
    runTimings: (params) => timeRuns(database, params),
    runEndCount: (params) => countEnds(database, params),
    waitCountByFunction: (params) => countWaits(database, params),
  };
}

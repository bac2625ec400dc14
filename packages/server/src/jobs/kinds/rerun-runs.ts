/** The kind runs.rerun: runs functions again with the events their runs were started by. */

import type { RunNo } from "@inlet/protocol";
import { RUN_FILTERS } from "../../api/runs/run-filters.ts";
import type { FunctionStartStore, NewRun, RunStore, RunSummary, StoredEvent } from "../../store/contract/index.ts";
import type { JobKind } from "../job-kind.ts";
import { type FindRunsParts, findRuns } from "./find-runs.ts";
import { startedByJob } from "./started-by-job.ts";

export interface RerunRunsParts extends FindRunsParts {
  store: Pick<RunStore, "runList" | "runSummaries"> & Pick<FunctionStartStore, "eventsAt">;
  /** Null when the function is gone. */
  repeat(run: RunSummary, event: StoredEvent): NewRun | null;
}

const GONE = "The function of this run, or its event, is not there any more.";

export function rerunRuns(parts: RerunRunsParts): JobKind {
  const { store, repeat } = parts;
  return {
    kind: "runs.rerun",
    filters: RUN_FILTERS,
    takesAll: true,
    find: (environment, filter, cursor) => findRuns(parts, environment, filter, cursor),
    async work(job, items) {
      const { environmentId } = job;
      const runs = await store.runSummaries({ environmentId, runNos: items as readonly RunNo[] });
      const found = await store.eventsAt({ environmentId, sequences: runs.map(({ eventSequence }) => eventSequence) });
      const events = new Map(found.map((event) => [event.sequence, event]));
      const repeated = runs.map((run) => {
        const event = events.get(run.eventSequence);
        return { run, fresh: event ? repeat(run, event) : null };
      });
      const removed = items.length - runs.length;
      return {
        starts: repeated.flatMap(({ run, fresh }) => (fresh ? [{ eventSequence: run.eventSequence, run: startedByJob(job, fresh) }] : [])),
        failures: [
          ...Array.from({ length: removed }, () => ({ item: null, message: "The run has been removed." })),
          ...repeated.filter(({ fresh }) => fresh === null).map(({ run }) => ({ item: run.id, message: GONE })),
        ],
      };
    },
  };
}

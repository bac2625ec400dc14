/** Runs as items of a job: those that the list of runs shows with the same filter. */

import type { RunId } from "@inlet/protocol";
import { type RunFilterQuery, runFilter } from "../../api/runs/run-filters.ts";
import type { RunsRoutesParts } from "../../api/runs/runs-routes.ts";
import { runView } from "../../observe/run-view.ts";
import type { Environment, RunStore } from "../../store/contract/index.ts";
import { type FoundPage, type JobFilter, PAGE_ITEMS } from "../job-kind.ts";

export interface FindRunsParts {
  store: Pick<RunStore, "runList">;
  runs: Pick<RunsRoutesParts["runs"], "functionNos" | "functionName">;
}

export async function findRuns(
  { store, runs }: FindRunsParts,
  environment: Environment,
  filter: JobFilter,
  cursor: string | null,
): Promise<FoundPage> {
  const names = { environment: environment.name, function: runs.functionName };
  const page = await store.runList({
    environmentId: environment.id,
    limit: PAGE_ITEMS,
    ...runFilter(runs, environment, filter as RunFilterQuery),
    ...(cursor !== null && { after: cursor as RunId }),
  });
  return {
    found: page.runs.map((run) => ({ item: run.no, sample: () => JSON.stringify(runView(run, names)) })),
    next: page.next,
  };
}

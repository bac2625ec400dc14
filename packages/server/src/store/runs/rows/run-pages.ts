/** Filters of runs that no index supports, in both engines: a list reads slices within a time budget, and says where to continue. */

import type { RunId, RunNo } from "@inlet/protocol";
import type { CompileWhere, RunListParams, RunSummary, StoredEvent } from "../../contract/index.ts";
import { holds, SearchBudget } from "../../events/rows/event-pages.ts";
import { errorPattern } from "./error-pattern.ts";

export interface RunPage {
  runs: RunSummary[];
  next: RunId | null;
}

export interface RunSource {
  /** A page without these filters. */
  page(params: RunListParams): RunPage | Promise<RunPage>;
  /** The events that exist. */
  events(sequences: readonly number[]): readonly StoredEvent[] | Promise<readonly StoredEvent[]>;
  /** Those of these runs that were rerun. */
  rerun(runNos: readonly RunNo[]): readonly RunNo[] | Promise<readonly RunNo[]>;
  /** Lets other reads run between slices. */
  pause(): Promise<unknown>;
}

const SLICE_RUNS = 200;

export function hasRunFilters({ where, errorText, errorPattern: pattern, rerun }: RunListParams): boolean {
  return where !== undefined || errorText !== undefined || pattern !== undefined || rerun !== undefined;
}

export async function filterRuns(source: RunSource, params: RunListParams, compileWhere: CompileWhere): Promise<RunPage> {
  const { where, hidden, rerun, limit, after: start } = params;
  const matches = where === undefined ? null : compileWhere(where);
  const budget = new SearchBudget(start);
  const found: RunSummary[] = [];
  let after = start;
  for (;;) {
    const { runs, next } = await source.page({ ...params, limit: SLICE_RUNS, ...(after !== undefined && { after }) });
    const events = matches ? await source.events(runs.map(({ eventSequence }) => eventSequence)) : [];
    const rerunNos = new Set(rerun === undefined ? [] : await source.rerun(runs.map(({ no }) => no)));
    const bySequence = new Map(events.map((event) => [event.sequence, event]));
    for (const run of runs) {
      const event = bySequence.get(run.eventSequence);
      if (rerun !== undefined && rerunNos.has(run.no) !== rerun) continue;
      if (!hasError(run, params)) continue;
      if (matches && !(event && matches(event) && !(hidden && holds(event, hidden)))) continue;
      if (found.length === limit) return { runs: found, next: found.at(-1)?.id ?? null };
      found.push(run);
    }
    if (next === null) return { runs: found, next: null };
    after = next;
    budget.spend(runs.length);
    if (budget.isSpent) return { runs: found, next };
    await source.pause();
  }
}

function hasError({ error, status }: RunSummary, { errorText, errorPattern: pattern, hidden }: RunListParams): boolean {
  if (pattern !== undefined && (status !== "failed" || errorPattern(error) !== pattern)) return false;
  if (errorText === undefined) return true;
  if (error === null) return false;
  const text = `${error.name}: ${error.message}`;
  return text.toLowerCase().includes(errorText.toLowerCase()) && !hidden?.test(text);
}

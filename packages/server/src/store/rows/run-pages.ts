/** How ranges of runs become a page, in both engines. */

import type { RunId } from "@inlet/protocol";
import type { RunSummary } from "../contract/index.ts";

export interface CollectedRuns {
  found: RunSummary[];
  /** Set when the stream was left before its end: everything newer is known. */
  leftAt: RunId | null;
}

/** Where streams were left at different places, only what is not older than the newest of these is known completely. */
export function mergeRuns(collected: CollectedRuns[], limit: number): { runs: RunSummary[]; next: RunId | null } {
  const horizon = collected
    .flatMap(({ leftAt }) => leftAt ?? [])
    .sort()
    .at(-1);
  const known = collected
    .flatMap(({ found }) => found)
    .filter(({ id }) => horizon === undefined || id >= horizon)
    .sort((a, b) => (a.id < b.id ? 1 : -1));
  const runs = known.slice(0, limit);
  return { runs, next: known.length > limit ? (runs.at(-1)?.id ?? null) : (horizon ?? null) };
}

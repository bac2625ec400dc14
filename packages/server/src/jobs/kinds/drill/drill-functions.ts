/**
 * The functions that ran on each request of a drill. A sample stands for one event of the provider: the runs of all events that its
 * requests became, up to and including this one, are counted together, so that a function that ran once for each copy shows twice.
 */

import type { DrillFunction, EventId, FunctionNo } from "@inlet/protocol";
import type { RunStatus } from "../../../store/contract/index.ts";
import type { StoredEntry } from "./drill-entry.ts";

export interface EventRun {
  id: string;
  functionNo: FunctionNo;
  status: RunStatus;
}

const ENDED: readonly RunStatus[] = ["completed", "failed", "cancelled"];

export function hasEnded({ status }: EventRun): boolean {
  return ENDED.includes(status);
}

export function withFunctions(
  entries: readonly StoredEntry[],
  runsOf: ReadonlyMap<EventId, readonly EventRun[]>,
  functionId: (no: FunctionNo) => string,
): StoredEntry[] {
  return entries.map((entry, at) => {
    if (entry.eventId === null) return entry;
    const same = entries.slice(0, at + 1).filter(({ sampleKey }) => sampleKey === entry.sampleKey);
    const eventIds = new Set(same.flatMap(({ eventId }) => (eventId === null ? [] : [eventId])));
    const runs = new Map([...eventIds].flatMap((id) => runsOf.get(id) ?? []).map((run) => [run.id, run]));
    return { ...entry, functions: functionsOf([...runs.values()], functionId) };
  });
}

function functionsOf(runs: readonly EventRun[], functionId: (no: FunctionNo) => string): DrillFunction[] {
  const byFunction = Map.groupBy(runs, ({ functionNo }) => functionNo);
  return [...byFunction].map(([no, its]) => ({
    id: functionId(no),
    runs: its.length,
    failed: its.some(({ status }) => status === "failed"),
  }));
}

/**
 * Runs of a key start in the order in which their events were accepted, and one at a time: the next is not called before the one before
 * it has ended and no call of that is under way any more. After a failure that holds up the key, not before it was released either.
 */

import type { RunDetails } from "../../../src/store/contract/index.ts";
import { fullId, type SimFunction } from "../scenario.ts";
import type { Evidence } from "./evidence.ts";

type Fault = (message: string) => void;

export function checkOrder(evidence: Evidence, fault: Fault): void {
  for (const fn of evidence.played.scenario.functions) {
    if (!fn.flow.ordering) continue;
    const runs = evidence.runsOf(fullId(fn)).filter((run) => evidence.callsOf(run).length > 0);
    for (const group of Map.groupBy(runs, (run) => evidence.dataOf(run).k).values()) checkKey(evidence, fn, group, fault);
  }
}

function checkKey(evidence: Evidence, { flow }: SimFunction, runs: readonly RunDetails[], fault: Fault): void {
  const inTurn = runs.toSorted((a, b) => firstCallAt(evidence, a) - firstCallAt(evidence, b));
  checkSequence(evidence, inTurn, fault);
  for (const [index, run] of inTurn.entries()) {
    const next = inTurn[index + 1];
    if (!next) return;
    const pair = `${evidence.describe(next)} after ${evidence.describe(run)}`;
    if (firstCallAt(evidence, next) < overAt(evidence, run)) fault(`${pair}: started before it was over`);
    const isHeld = flow.ordering?.onFailure === "hold" && run.status === "failed";
    const releasedAt = evidence.played.journal.releases.get(run.id) ?? Number.POSITIVE_INFINITY;
    const isRepeatedByJob = next.jobId !== null && next.originalRunId === (run.originalRunId ?? run.id);
    const isInItsPlace = isRepeatedByJob || evidence.rerunOf(next)?.sourceId === run.id;
    if (isHeld && !isInItsPlace && firstCallAt(evidence, next) < releasedAt) fault(`${pair}: started although it holds up the key`);
  }
}

/** A rerun has no place among the others, or that of the run which held them up. */
function checkSequence(evidence: Evidence, inTurn: readonly RunDetails[], fault: Fault): void {
  const first = inTurn.filter(({ originalRunId, jobId }) => originalRunId === null && jobId === null);
  for (const [index, run] of first.entries()) {
    const next = first[index + 1];
    if (next && !isAcceptedBefore(evidence, run, next)) fault(`${evidence.describe(next)} after ${evidence.describe(run)}: out of order`);
  }
}

/** In one process, events are accepted in the order of their numbers; on several nodes, those that are stored at the same time in any order. */
function isAcceptedBefore(evidence: Evidence, one: RunDetails, other: RunDetails): boolean {
  if (one.eventSequence < other.eventSequence) return true;
  return evidence.played.scenario.isRealTime === true && evidence.storedBy(other) >= one.createdAt;
}

function firstCallAt(evidence: Evidence, run: RunDetails): number {
  return evidence.callsOf(run)[0]?.sentAt ?? Number.POSITIVE_INFINITY;
}

/** Calls of a process that was killed do not count: nobody can call them back. */
function overAt(evidence: Evidence, run: RunDetails): number {
  const calls = evidence.callsOf(run).filter(({ fate }) => fate !== "killed" && fate !== "stopped");
  return Math.max(run.endedAt ?? Number.POSITIVE_INFINITY, ...calls.map(({ endedAt }) => endedAt ?? Number.POSITIVE_INFINITY));
}

/**
 * A schedule starts one run for each of its times, and for no other time: however late it is, never after the next one. Times at which nothing
 * could be done are skipped. An app that is removed is not called any more: nothing starts, and what has not ended fails.
 */

import type { RunDetails } from "../../../src/store/contract/index.ts";
import { fullId, type SimFunction } from "../scenario.ts";
import type { Evidence } from "./evidence.ts";

type Fault = (message: string) => void;

const MINUTE_MS = 60_000;
const APP_REMOVED = "Its app was removed.";

export function checkSchedules(evidence: Evidence, fault: Fault): void {
  for (const fn of evidence.played.scenario.functions) {
    if (fn.everyMinutes === undefined) continue;
    const told = (message: string) => fault(`${fullId(fn)}: ${message}`);
    const runs = evidence.runsOf(fullId(fn));
    checkTimes(evidence, runs, fn.everyMinutes * MINUTE_MS, told);
    checkRemoval(evidence, fn, runs, told);
  }
}

/** It failed because its app was removed. */
export function isLostWithApp(evidence: Evidence, run: RunDetails): boolean {
  if (run.status !== "failed" || run.error?.message !== APP_REMOVED) return false;
  const removal = evidence.played.journal.appRemovals.find(({ functionId }) => functionId === evidence.functionId(run));
  return removal !== undefined && (run.endedAt ?? 0) >= removal.askedAt;
}

function checkTimes(evidence: Evidence, runs: readonly RunDetails[], everyMs: number, fault: Fault): void {
  const started = Map.groupBy(runs, (run) => timeOf(evidence, run));
  for (const [time, some] of started) {
    if (time % everyMs !== 0) fault(`a run was started for ${time}, which is none of its times`);
    if (some.length > 1) fault(`${some.length} runs were started for ${time}`);
    for (const { createdAt } of some)
      if (createdAt < time || createdAt >= time + everyMs) fault(`the run for ${time} was started at ${createdAt}`);
  }
  for (const time of timesFor(evidence, everyMs)) if (!started.has(time)) fault(`no run was started for ${time}`);
}

function timeOf(evidence: Evidence, run: RunDetails): number {
  const { scheduledAt } = JSON.parse(evidence.eventOf(run)?.data ?? "{}") as { scheduledAt?: string };
  return Date.parse(scheduledAt ?? "");
}

/** Those that cannot be skipped: the service was there all the time. */
function timesFor(evidence: Evidence, everyMs: number): number[] {
  const { scenario, journal } = evidence.played;
  const { outages, refusals, archives = [], isRealTime } = scenario;
  if (isRealTime || outages.length + refusals.length + archives.length > 0) return [];
  const from = journal.peopleBeganAt + evidence.jumbleMs;
  const until = (journal.appRemovals[0]?.askedAt ?? 0) - evidence.jumbleMs;
  const first = Math.ceil(from / everyMs) * everyMs;
  return Array.from({ length: Math.max(Math.ceil((until - first) / everyMs), 0) }, (_, index) => first + index * everyMs);
}

function checkRemoval(evidence: Evidence, fn: SimFunction, runs: readonly RunDetails[], fault: Fault): void {
  const { journal } = evidence.played;
  const removal = journal.appRemovals.find(({ functionId }) => functionId === fullId(fn));
  if (!removal) return;
  const since = removal.removedAt + evidence.tellingMs + evidence.jumbleMs;
  const late = runs.find(({ createdAt }) => createdAt > since);
  if (late) fault(`run ${late.id} was started ${late.createdAt - removal.removedAt} ms after its app was removed`);
  const call = journal.calls.find(({ functionId, sentAt }) => functionId === fullId(fn) && sentAt > since);
  if (call) fault(`run ${call.runId} was called ${call.sentAt - removal.removedAt} ms after its app was removed`);
}

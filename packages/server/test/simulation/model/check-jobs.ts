/**
 * A job does for each of its items what it says, once, whatever happens to the process that works on it. Its items are those that were there
 * when it was made; if it is cancelled, the oldest of them, as many as it says.
 */

import { RECONCILE_KIND } from "../../../src/jobs/kinds/reconcile-webhook.ts";
import type { Job, RunDetails } from "../../../src/store/contract/index.ts";
import { REPLAY_KIND } from "../deeds/replays.ts";
import { fullId, type SimFunction } from "../scenario.ts";
import { BY_HAND, checkCancelledJob, checkCancelRequest, reachedAt } from "./check-job-cancels.ts";
import { triggers } from "./check-starts.ts";
import { dataOf, type Evidence } from "./evidence.ts";

type Fault = (message: string) => void;

export function checkJobs(evidence: Evidence, fault: Fault): void {
  const { jobs, journal } = evidence.played;
  if (jobs.length > journal.jobs.length) fault(`${journal.jobs.length} jobs were asked for, and there are ${jobs.length}`);
  for (const { id } of journal.jobs) if (id !== null && !jobs.some((job) => job.id === id)) fault(`job ${id} is not stored`);
  for (const job of jobs) {
    const told = (message: string) => fault(`job ${job.kind}: ${message}`);
    const fn = evidence.played.scenario.functions.find((candidate) => fullId(candidate) === functionIdOf(job));
    // Its provider may list what is refused at the time: whoever asked for it does so again.
    if (job.kind === RECONCILE_KIND) continue;
    checkCancelRequest(evidence, job, told);
    const isWhole = job.status === "completed" && job.done === job.total;
    if (!isWhole && job.status !== "cancelled") told(`it is ${job.status}, ${job.done} of ${job.total} items are done`);
    // What they do shows in check-erasures.ts and check-replays.ts.
    else if (job.kind === "events.erase" || job.kind === REPLAY_KIND) continue;
    else if (!fn) told("it is about no function");
    else if (job.kind !== "runs.cancel") checkStarted(evidence, job, fn, told);
    else if (job.status === "cancelled") checkCancelledJob(evidence, job, fn, told);
    else checkCancelled(evidence, job, fn, told);
  }
}

/** It was among the items of a job that cancels, or may have been. */
export function isCancelledByJob(evidence: Evidence, run: RunDetails): boolean {
  if (run.error?.message !== BY_HAND) return false;
  return evidence.played.jobs.some(
    (job) =>
      job.kind === "runs.cancel" &&
      functionIdOf(job) === evidence.functionId(run) &&
      run.createdAt <= job.createdAt &&
      (run.endedAt ?? 0) >= job.createdAt &&
      // The items that were being worked on when it was cancelled.
      (run.endedAt ?? 0) <= (job.endedAt ?? 0) + (job.status === "cancelled" ? evidence.slackMs : 0),
  );
}

function functionIdOf({ functionId, filter }: Job): string | undefined {
  return functionId ?? (JSON.parse(filter) as { function?: string }).function;
}

function checkCancelled(evidence: Evidence, job: Job, fn: SimFunction, fault: Fault): void {
  const left = evidence
    .runsOf(fullId(fn))
    .filter((run) => isListed(evidence, job, run.createdAt, evidence.storedBy(run)))
    .filter(({ endedAt }) => (endedAt ?? Number.POSITIVE_INFINITY) > (job.endedAt ?? 0));
  for (const run of left.slice(0, 3)) fault(`${evidence.describe(run)} went on after all were cancelled`);
}

interface Item {
  /** A run, by the first of its repetitions, or an event. */
  key: string;
  at: number;
  storedBy: number;
  isGone: boolean;
  /** The function handles it. */
  isHandled: boolean;
}

/** One run for each item. */
function checkStarted(evidence: Evidence, job: Job, fn: SimFunction, fault: Fault): void {
  const isRerun = job.kind === "runs.rerun";
  const keyOf = (run: RunDetails) => (isRerun ? rootOf(run) : (run.event?.id ?? ""));
  const items = isRerun ? runItems(evidence, job, fn) : eventItems(evidence, job, fn);
  const reached = job.status === "completed" ? Number.POSITIVE_INFINITY : (reachedAt(items, job.done) ?? 0);
  const started = evidence.played.runs.filter(({ jobId }) => jobId === job.id);
  const startedBy = Map.groupBy(started, keyOf);
  const handled = Map.groupBy(
    items.filter(({ isHandled }) => isHandled),
    ({ key }) => key,
  );
  for (const [key, some] of handled) {
    const times = startedBy.get(key)?.length ?? 0;
    const isSure = ({ at, storedBy, isGone }: Item) => isListed(evidence, job, at, storedBy) && at < reached - evidence.jumbleMs && !isGone;
    const least = some.filter(isSure).length;
    const most = some.filter(({ at }) => at <= job.createdAt).length;
    if (times < least || times > most) fault(`${times} runs were started for ${key}, where ${least} to ${most} may be`);
  }
  for (const run of started) if (!handled.has(keyOf(run))) fault(`event ${dataOf(evidence.eventOf(run)).n} is not of this job`);
  const mayBeFewer = !isRerun && (fn.trigger?.onlyOdd ?? false);
  const expected = job.done - job.failed;
  if (started.length > expected || (started.length < expected && !mayBeFewer))
    fault(`${started.length} runs were started for ${job.done} items, of which ${job.failed} failed`);
}

function rootOf({ id, originalRunId }: RunDetails): string {
  return originalRunId ?? id;
}

function runItems(evidence: Evidence, job: Job, fn: SimFunction): Item[] {
  return evidence.runsOf(fullId(fn)).map((run) => ({
    key: rootOf(run),
    at: run.createdAt,
    storedBy: evidence.storedBy(run),
    isGone: evidence.isGone(run, job.endedAt),
    isHandled: true,
  }));
}

function eventItems(evidence: Evidence, job: Job, fn: SimFunction): Item[] {
  const { events, journal } = evidence.played;
  const isOver = (at: number | undefined) => at !== undefined && at <= (job.endedAt ?? 0);
  const named = events.filter(({ name }) => name === fn.trigger?.event);
  return named.map((event) => ({
    key: event.id,
    at: event.receivedAt,
    storedBy: journal.storedAt.get(event.id) ?? Number.POSITIVE_INFINITY,
    isGone: isOver(journal.removedEvents.get(event.sequence)?.since),
    isHandled: triggers(fn, event),
  }));
}

/**
 * For sure. In virtual time, while timers are jumbled, time passes between the list and the job. In real time, everything takes some: what
 * is known to have been stored when somebody asked for the job is listed, and for how long that took says nothing.
 */
function isListed(evidence: Evidence, job: Job, at: number, storedBy: number): boolean {
  const { scenario, journal } = evidence.played;
  if (!scenario.isRealTime) return at < job.createdAt - evidence.jumbleMs;
  const asks = journal.jobs.filter(({ id }) => id === job.id);
  const unanswered = journal.jobs.filter(
    ({ id, kind, functionId }) => id === null && kind === job.kind && functionId === functionIdOf(job),
  );
  return storedBy < Math.min(...(asks.length > 0 ? asks : unanswered).map(({ askedAt }) => askedAt));
}

/**
 * A job does for each of its items what it says, once, whatever happens to the process that works on it. Its items are those that were there
 * when it was made.
 */

import { RECONCILE_KIND } from "../../../src/jobs/kinds/reconcile-webhook.ts";
import type { Job, RunDetails } from "../../../src/store/contract/index.ts";
import { fullId, type SimFunction } from "../scenario.ts";
import { triggers } from "./check-starts.ts";
import { dataOf, type Evidence } from "./evidence.ts";

type Fault = (message: string) => void;

const BY_HAND = "It was cancelled by hand.";

export function checkJobs(evidence: Evidence, fault: Fault): void {
  const { jobs, journal } = evidence.played;
  if (jobs.length > journal.jobs.length) fault(`${journal.jobs.length} jobs were asked for, and there are ${jobs.length}`);
  for (const { id } of journal.jobs) if (id !== null && !jobs.some((job) => job.id === id)) fault(`job ${id} is not stored`);
  for (const job of jobs) {
    const told = (message: string) => fault(`job ${job.kind}: ${message}`);
    const fn = evidence.played.scenario.functions.find((candidate) => fullId(candidate) === functionIdOf(job));
    // Its provider may list what is refused at the time: whoever asked for it does so again.
    if (job.kind === RECONCILE_KIND) continue;
    if (job.status !== "completed" || job.done !== job.total) told(`it is ${job.status}, ${job.done} of ${job.total} items are done`);
    else if (job.kind === "events.erase") continue;
    else if (!fn) told("it is about no function");
    else if (job.kind === "runs.cancel") checkCancelled(evidence, job, fn, told);
    else checkStarted(evidence, job, fn, told);
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
      (run.endedAt ?? 0) <= (job.endedAt ?? 0),
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

/** One run for each item: a run, by the first of its repetitions, or an event. */
function checkStarted(evidence: Evidence, job: Job, fn: SimFunction, fault: Fault): void {
  const { runs, events, journal } = evidence.played;
  const rootOf = ({ id, originalRunId }: RunDetails) => originalRunId ?? id;
  const isRerun = job.kind === "runs.rerun";
  const isOver = (at: number | undefined) => at !== undefined && at <= (job.endedAt ?? 0);
  const items = isRerun
    ? evidence.runsOf(fullId(fn)).map((run) => ({
        key: rootOf(run) as string,
        at: run.createdAt,
        storedBy: evidence.storedBy(run),
        isGone: evidence.isGone(run, job.endedAt),
      }))
    : events
        .filter((event) => triggers(fn, event))
        .map(({ id, receivedAt, sequence }) => ({
          key: id as string,
          at: receivedAt,
          storedBy: journal.storedAt.get(id) ?? Number.POSITIVE_INFINITY,
          isGone: isOver(journal.removedEvents.get(sequence)?.since),
        }));
  const started = runs.filter(({ jobId }) => jobId === job.id);
  const startedBy = Map.groupBy(started, (run) => (isRerun ? rootOf(run) : (run.event?.id ?? "")) as string);
  const counts = Map.groupBy(items, ({ key }) => key);
  for (const [key, some] of counts) {
    const times = startedBy.get(key)?.length ?? 0;
    const least = some.filter(({ at, storedBy, isGone }) => isListed(evidence, job, at, storedBy) && !isGone).length;
    const most = some.filter(({ at }) => at <= job.createdAt).length;
    if (times < least || times > most) fault(`${times} runs were started for ${key}, where ${least} to ${most} may be`);
  }
  for (const run of started)
    if (!counts.has((isRerun ? rootOf(run) : run.event?.id) ?? "")) fault(`event ${dataOf(evidence.eventOf(run)).n} is not of this job`);
  if (isRerun && started.length !== job.total - job.failed) fault(`${started.length} runs were started for ${job.total} items`);
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

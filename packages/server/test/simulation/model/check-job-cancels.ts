/**
 * A job is cancelled if somebody asked for that, and by nothing else. Whoever was told so was told how far it came: it goes no further. Items
 * that were being worked on at that moment may be finished.
 */

import type { Job, RunDetails } from "../../../src/store/contract/index.ts";
import { fullId, type SimFunction } from "../scenario.ts";
import type { Evidence } from "./evidence.ts";

type Fault = (message: string) => void;

/** Why a run that a job has cancelled ended. */
export const BY_HAND = "It was cancelled by hand.";
/** How many items a job about runs works on at once. */
const BATCH_MAX = 3;

export function checkCancelRequest(evidence: Evidence, job: Job, fault: Fault): void {
  const { cancel } = evidence.played.journal.jobs.find(({ id }) => id === job.id) ?? {};
  if (job.status === "cancelled" && !cancel) fault("it was cancelled, and nobody asked for that");
  if (!cancel?.told) return;
  const { status, done, endedAt } = cancel.told;
  if (status !== "cancelled" && status !== "completed") fault(`it is ${status} after somebody cancelled it`);
  if (job.status !== status || job.done !== done || job.endedAt !== endedAt)
    fault(`it was ${status} with ${done} items done when somebody cancelled it, and is ${job.status} with ${job.done}`);
}

/** Of items that are worked on from the oldest on, when the last of so many was made. What was removed may not have been an item. */
export function reachedAt(items: readonly { at: number }[], count: number): number | undefined {
  return items.map(({ at }) => at).sort((a, b) => a - b)[count - 1];
}

/** Runs that it has come to have ended, and it has cancelled no others. */
export function checkCancelledJob(evidence: Evidence, job: Job, fn: SimFunction, fault: Fault): void {
  const items = evidence.runsOf(fullId(fn)).flatMap((run) => (run.createdAt <= job.createdAt ? [{ run, at: run.createdAt }] : []));
  const reached = reachedAt(items, job.done) ?? 0;
  const isLeft = ({ endedAt }: RunDetails) => (endedAt ?? Number.POSITIVE_INFINITY) > (job.endedAt ?? 0);
  const left = items.filter(({ run, at }) => at < reached - evidence.jumbleMs && isLeft(run));
  for (const { run } of left.slice(0, 3)) fault(`${evidence.describe(run)} went on, which it had come to`);
  const isOnlyOne = evidence.played.jobs.filter(({ kind }) => kind === job.kind).length === 1;
  const present = items.filter(({ run }) => !evidence.isGone(run, job.createdAt));
  const last = reachedAt(present, job.done + BATCH_MAX) ?? Number.POSITIVE_INFINITY;
  const beyond = items.filter(({ run, at }) => isOnlyOne && at > last + evidence.jumbleMs && run.error?.message === BY_HAND);
  for (const { run } of beyond.slice(0, 3)) fault(`${evidence.describe(run)} was cancelled, which it had not come to`);
}

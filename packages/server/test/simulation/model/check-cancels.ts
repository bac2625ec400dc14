/**
 * An event that cancels a run does so while the run goes on: it must not go on for long after it. That is checked for every event that was
 * received after the service had acknowledged the run. Of an event and a run that are stored at the same time, either may be first; an
 * event that is first never cancels the run, which check-runs.ts checks.
 */

import { dataOf, durationMs, type Evidence } from "./evidence.ts";

/** Within one instant the order is open. */
const INSTANT_MS = 2;

export function checkCancels(evidence: Evidence, fault: (message: string) => void): void {
  for (const run of evidence.played.runs) {
    const { cancelOn } = evidence.functionOf(run) ?? {};
    if (!cancelOn || run.status === "cancelled" || run.event?.name === "inngest/function.invoked") continue;
    const lasts = durationMs(cancelOn.timeout) ?? Number.POSITIVE_INFINITY;
    const cause = evidence.played.events.find(
      (event) =>
        event.name === cancelOn.event &&
        event.sequence > run.eventSequence &&
        event.receivedAt > run.createdAt + INSTANT_MS &&
        event.receivedAt > evidence.storedBy(run) &&
        event.receivedAt < run.createdAt + lasts - INSTANT_MS &&
        event.receivedAt < (run.endedAt ?? Number.POSITIVE_INFINITY) - evidence.slackMs &&
        (cancelOn.by === "any" || dataOf(event).k === evidence.dataOf(run).k),
    );
    if (cause)
      fault(
        `${evidence.describe(run)} went on for ${(run.endedAt ?? 0) - cause.receivedAt} ms after event ${dataOf(cause).n}, which cancels it`,
      );
  }
}

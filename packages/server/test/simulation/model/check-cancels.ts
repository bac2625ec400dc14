/** An event that cancels a run does so while the run goes on: it must not go on for long after it. */

import { dataOf, type Evidence, durationMs } from "./evidence.ts";

/** Within one instant the order is open; what was down or refused has to come back first. */
const SLACK_MS = 2;
const SLACK_WITH_FAULTS_MS = 60_000;

export function checkCancels(evidence: Evidence, fault: (message: string) => void): void {
  const { outages, refusals } = evidence.played.scenario;
  const slackMs = outages.length + refusals.length > 0 ? SLACK_WITH_FAULTS_MS : SLACK_MS;
  for (const run of evidence.played.runs) {
    const { cancelOn } = evidence.functionOf(run) ?? {};
    if (!cancelOn || run.status === "cancelled" || run.event?.name === "inngest/function.invoked") continue;
    const lasts = durationMs(cancelOn.timeout) ?? Number.POSITIVE_INFINITY;
    const cause = evidence.played.events.find(
      (event) =>
        event.name === cancelOn.event &&
        event.receivedAt > run.createdAt + SLACK_MS &&
        event.receivedAt < run.createdAt + lasts - SLACK_MS &&
        event.receivedAt < (run.endedAt ?? Number.POSITIVE_INFINITY) - slackMs &&
        (cancelOn.by === "any" || dataOf(event).k === evidence.dataOf(run).k),
    );
    if (cause) fault(`${evidence.describe(run)} went on for ${(run.endedAt ?? 0) - cause.receivedAt} ms after event ${dataOf(cause).n}, which cancels it`);
  }
}

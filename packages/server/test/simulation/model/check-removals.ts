/**
 * Retention removes no event that a run still needs, and what is old and over is removed in the end. An event that is sent again within the
 * window is a duplicate, whether or not the first one is still there.
 */

import type { RunDetails } from "../../../src/store/contract/index.ts";
import { dataOf, type Evidence } from "./evidence.ts";

type Fault = (message: string) => void;

export function checkRemovals(evidence: Evidence, fault: Fault): void {
  const { journal, runs, events, left } = evidence.played;
  const needing = Map.groupBy(
    runs.flatMap((run) => sequencesOf(run).map((sequence) => ({ run, sequence }))),
    ({ sequence }) => sequence,
  );
  for (const [sequence, { by: removedAt }] of journal.removedEvents)
    for (const { run } of needing.get(sequence) ?? [])
      if ((run.endedAt ?? Number.POSITIVE_INFINITY) > removedAt) fault(`${evidence.describe(run)}: its event was removed before it ended`);
  // The newest of each may be kept.
  if (left && left.runs > 1) fault(`${left.runs} runs that had ended were not removed`);
  if (left && left.events > 1) fault(`${left.events} events were not removed`);
  for (const { n, name, ids } of journal.echoes) {
    const stored = events.filter((event) => event.name === name && dataOf(event).n === n && !event.data.includes('"by":'));
    if (stored.length !== 1) fault(`event ${n}, which was sent twice with one id, is stored ${stored.length} times`);
    if (ids.some((id) => id !== stored[0]?.id)) fault(`event ${n} is ${stored[0]?.id}, and was answered with ${ids.join(", ")}`);
  }
}

function sequencesOf({ eventSequence, eventSequences }: RunDetails): readonly number[] {
  return eventSequences ?? [eventSequence];
}

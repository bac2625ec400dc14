/** Finds the events that end waits. Of a wait with an expression, the event that started its run is read: within a bounded size at a time. */

import type { RunNo } from "@inlet/protocol";
import type { NewEvent, WaitRules } from "../../contract/index.ts";
import { eventsWithin } from "../../events/postgres/select-events.ts";
import { boundedKey } from "../../postgres/bounded-key.ts";
import type { PendingWrites } from "../../postgres/pending-writes.ts";
import { type RunStart, runStarts } from "../../runs/postgres/run-state.ts";
import { candidateEvents, firstMatch, type MatchedWait, type SeenEvent, type WaitingRun } from "../policy.ts";

/** Waits for one event name, and the events of that name that they are tested with, in the order in which these count. */
export interface Meeting<Wait, Seen> {
  waits: readonly Wait[];
  seen: readonly Seen[];
}

export interface Match<Wait, Seen> {
  wait: Wait;
  seen: Seen;
}

type TestedWait = MatchedWait & { runNo: RunNo };

export interface Matches<Wait, Seen> {
  matches: Match<Wait, Seen>[];
  /** The unfinished runs of the waits. */
  starts: ReadonlyMap<RunNo, RunStart>;
}

export async function matchWaits<Wait extends TestedWait, Seen extends SeenEvent>(
  writes: PendingWrites,
  rules: WaitRules,
  meetings: readonly Meeting<Wait, Seen>[],
): Promise<Matches<Wait, Seen>> {
  const tested = meetings.flatMap(({ waits, seen }) => {
    const candidatesOf = candidateEvents(seen, rules, boundedKey);
    return waits.flatMap((wait) => (candidatesOf(wait).length > 0 ? [{ wait, candidates: candidatesOf(wait) }] : []));
  });
  const starts = await runStarts(
    writes,
    tested.map(({ wait }) => wait.runNo),
  );
  const matches: Match<Wait, Seen>[] = [];
  const test = ({ wait, candidates }: (typeof tested)[number], event: NewEvent | null) => {
    const start = starts.get(wait.runNo);
    const run: WaitingRun | undefined = start && { eventSequence: start.eventSequence, event };
    const seen = firstMatch(wait, candidates, run, rules);
    if (seen) matches.push({ wait, seen });
  };
  for (const one of tested) if (one.wait.expression === null) test(one, null);
  const asked = tested.filter(({ wait }) => wait.expression !== null && starts.has(wait.runNo));
  const sequenceOf = ({ wait }: (typeof tested)[number]) => (starts.get(wait.runNo) as RunStart).eventSequence;
  for await (const events of eventsWithin(writes.read, writes.environmentId, asked.map(sequenceOf))) {
    for (const one of asked) {
      const event = events.get(sequenceOf(one));
      if (event) test(one, event);
    }
  }
  return { matches, starts };
}

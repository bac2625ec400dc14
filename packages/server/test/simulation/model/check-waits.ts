/** A wait holds an event that matches it and came in its time; or nothing, and then none had been stored when it ended. */

import type { RunDetails, StoredEvent } from "../../../src/store/contract/index.ts";
import { dataOf, type Evidence } from "./evidence.ts";
import type { Demand, KeptStep, Replay } from "./replay.ts";

type WaitDemand = Demand & { code: Extract<Demand["code"], { kind: "wait" }> };

export function checkWait(
  evidence: Evidence,
  run: RunDetails,
  step: RunDetails["steps"][number],
  { code, after }: WaitDemand,
  demands: Replay["demands"],
  fault: (message: string) => void,
): void {
  const { k } = evidence.dataOf(run);
  const matches = (event: StoredEvent) => event.name === code.event && (code.by === "any" || dataOf(event).k === k);
  // A rerun may begin with results from before it.
  const since = Math.max(stepBefore(after, demands)?.endedAt ?? 0, run.createdAt);
  const until = step.until ?? Number.POSITIVE_INFINITY;
  const value = JSON.parse(step.value ?? "null") as { id: string; ts: number } | null;
  if (value !== null) {
    // What is sent again with its id after retention has removed the first is another event.
    const named = evidence.played.events.filter(({ id, dedupId }) => id === value.id || dedupId === value.id);
    const event = named.find(({ ts }) => ts === value.ts) ?? named[0];
    if (!event) return fault("a wait holds an event that is not stored");
    if (!matches(event)) fault("a wait holds an event that does not match it");
    if (event.receivedAt < since) fault(`a wait holds an event that came ${since - event.receivedAt} ms before the wait began`);
    if (event.receivedAt > until) fault(`a wait holds an event that came ${event.receivedAt - until} ms after its end`);
    return;
  }
  // Where branches end one after the other, the last of them may count as the step before.
  const ends = run.steps.flatMap(({ endedAt }) => (endedAt !== null && endedAt <= step.startedAt ? [endedAt] : []));
  const from = Math.max(since, run.startedAt ?? 0, ...ends);
  const missed = evidence.played.events.find(
    (event) =>
      matches(event) &&
      event.receivedAt > from &&
      event.receivedAt < until &&
      event.id !== run.event?.id &&
      evidence.couldSee(run, step.id, event),
  );
  if (missed)
    fault(
      `a wait missed event ${dataOf(missed).n}, which came ${missed.receivedAt - from} ms after it began and ${until - missed.receivedAt} ms before its end`,
    );
}

/** What a step sent may be answered before it is known to have ended: after one of those, events count since the step before it. */
function stepBefore(after: KeptStep | null, demands: Replay["demands"]): KeptStep | null {
  let before = after;
  for (let demand = before && demands.get(before.name); demand?.code.kind === "send"; demand = before && demands.get(before.name))
    before = demand.after;
  return before;
}

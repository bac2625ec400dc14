/**
 * Makes the decisions about the runs of a group. Each is first made without the events that started its run. A decision that asks for
 * them is made again once they are read: for as many runs as hold a bounded size, at least one. The others are left to a later group.
 */

import type { RunNo } from "@inlet/protocol";
import type { EntryRecord, RunAdvanceParams, RunChange, RunState, StoredEvent } from "../../contract/index.ts";
import { eventsOfSome } from "../../events/postgres/select-events.ts";
import type { PendingWrites } from "../../postgres/pending-writes.ts";
import type { LockedState } from "./run-state.ts";

export interface DecidedAdvance {
  state: LockedState;
  /** The processed entry; null if the change has another cause. */
  entry: EntryRecord | null;
  change: RunChange;
}

/** A run that has ended, or whose entry is no longer leased under the same id, is not changed. */
export type AdvanceOutcome = DecidedAdvance | "unchanged" | "left";

type Advance = Pick<RunAdvanceParams, "runNo" | "entry" | "decide">;

/** By run: a group has at most one decision about each. */
export async function decideAdvances(
  writes: PendingWrites,
  states: ReadonlyMap<RunNo, LockedState>,
  advances: readonly Advance[],
): Promise<Map<RunNo, AdvanceOutcome>> {
  const outcomes = new Map<RunNo, AdvanceOutcome>();
  const asking: (Omit<DecidedAdvance, "change"> & Pick<Advance, "runNo" | "decide">)[] = [];
  for (const { runNo, entry: held, decide } of advances) {
    const state = states.get(runNo);
    const entry = held && state?.entries.find(({ no, leaseId }) => no === held.no && leaseId === held.leaseId);
    if (!state || entry === undefined) outcomes.set(runNo, "unchanged");
    else {
      const change = changeWithoutEvents(decide, state);
      if (change) outcomes.set(runNo, { state, entry, change });
      else asking.push({ runNo, state, entry, decide });
    }
  }
  const sequences = new Map(asking.map(({ runNo, state }) => [runNo, state.eventSequences]));
  const events = await eventsOfSome(writes.read, writes.environmentId, sequences);
  for (const { runNo, state, entry, decide } of asking) {
    const own = events.get(runNo);
    outcomes.set(runNo, own ? { state, entry, change: decide(withEvents(state, () => own)) } : "left");
  }
  return outcomes;
}

/** Null if the decision asks for the events. What it throws or returns after that does not count. */
function changeWithoutEvents(decide: Advance["decide"], state: LockedState): RunChange | null {
  let isAsked = false;
  const ask = () => {
    isAsked = true;
    throw new Error("the events are read when a decision asks for them");
  };
  try {
    const change = decide(withEvents(state, ask));
    return isAsked ? null : change;
  } catch (error) {
    if (isAsked) return null;
    throw error;
  }
}

function withEvents({ run, steps, entries }: LockedState, events: () => readonly StoredEvent[]): RunState {
  return { run, steps, entries, events };
}

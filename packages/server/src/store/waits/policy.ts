/**
 * When an event ends a wait, and how much of that one transaction does.
 *
 * An event and a wait meet in one of two ways: the event is stored later and looks for waits, or the wait is stored later and looks back
 * for events. Both are bounded. What a transaction leaves is recorded in it, and further transactions continue (resumptions/contract.ts).
 */

import {
  type NewEvent,
  type StoredEvent,
  type StoredWait,
  WAITS_PER_EVENT_MAX,
  WAITS_PER_TRANSACTION_MAX,
  type WaitRules,
} from "../contract/index.ts";

export interface SeenEvent {
  event: NewEvent;
  sequence: number;
  receivedAt: number;
}

export function seenEvent(event: StoredEvent): SeenEvent {
  return { event, sequence: event.sequence, receivedAt: event.receivedAt };
}

export interface WaitingRun {
  /** The event that started the run. */
  eventSequence: number;
  event: NewEvent | null;
}

export type MatchedWait = Pick<StoredWait, "kind" | "since" | "expiresAt" | "expression"> & {
  /** The stored path and key; null: every event of the name is tested. */
  kept: { path: string; key: string } | null;
};

/** The first of the events, in the order in which they count, that ends the wait. `run` undefined: it has ended. */
export function firstMatch<Seen extends SeenEvent>(
  wait: MatchedWait,
  candidates: readonly Seen[],
  run: WaitingRun | undefined,
  rules: WaitRules,
): Seen | undefined {
  return run && candidates.find((one) => endsWait(wait, one, run, rules));
}

/**
 * Counted from the time an event was received, whenever it is examined. The event that started a run neither resumes nor cancels it. Nor
 * does an event cancel a run that a later one started: transactions overlap, so the later one may be committed while the earlier one
 * still looks for waits. Sequence numbers decide, not times: events of a node whose clock is slow cancel as well.
 */
function endsWait(wait: MatchedWait, { event, sequence, receivedAt }: SeenEvent, run: WaitingRun, rules: WaitRules): boolean {
  if (run.eventSequence === sequence || wait.since > receivedAt || wait.expiresAt <= receivedAt) return false;
  if (wait.kind === "cancel" && sequence < run.eventSequence) return false;
  return wait.expression === null || (run.event !== null && rules.matches(wait, event, run.event));
}

/** Finds the events that may end a wait for their name, by its key. `keep` is the form in which the engine stores keys. */
export function candidateEvents<Seen extends SeenEvent>(
  seen: readonly Seen[],
  rules: WaitRules,
  keep: (key: string) => string,
): (wait: Pick<MatchedWait, "kept">) => readonly Seen[] {
  const paths = new Map<string, Map<string, Seen[]>>();
  return ({ kept }) => {
    if (kept === null) return seen;
    const known = paths.get(kept.path) ?? eventsByKey(seen, kept.path, rules, keep);
    paths.set(kept.path, known);
    return known.get(kept.key) ?? [];
  };
}

function eventsByKey<Seen extends SeenEvent>(
  seen: readonly Seen[],
  path: string,
  rules: WaitRules,
  keep: (key: string) => string,
): Map<string, Seen[]> {
  const byKey = new Map<string, Seen[]>();
  for (const one of seen) {
    const key = rules.keyAt(one.event, path);
    if (key === null) continue;
    const kept = keep(key);
    const others = byKey.get(kept);
    if (others) others.push(one);
    else byKey.set(kept, [one]);
  }
  return byKey;
}

/**
 * Decides which of the events of one transaction, in order, end their waits in further transactions: those with many waits, those beyond
 * the bound of the transaction, and those that follow such an event of the same name, so that of several events the first ends a wait.
 */
export class ResumptionPlan {
  readonly #deferred = new Set<string>();
  #room = WAITS_PER_TRANSACTION_MAX;

  /**
   * `waits`: how many may match, counted up to one more than an event may examine. `isPending`: an earlier transaction deferred an event
   * of this name, which has not ended all of its waits.
   */
  isDeferred({ name, waits, isPending }: { name: string; waits: number; isPending: boolean }): boolean {
    if (waits === 0) return false;
    const isDeferred = isPending || this.#deferred.has(name) || waits > WAITS_PER_EVENT_MAX || waits > this.#room;
    if (isDeferred) this.#deferred.add(name);
    else this.#room -= waits;
    return isDeferred;
  }
}

/** The newest events of a name, oldest first. */
export interface NewestEvents {
  events: readonly SeenEvent[];
  /** Whether there are no older ones in the range that was read. */
  isWhole: boolean;
}

/** Whether these are all the events that a new wait has to examine. Older ones may have been received at the time of the oldest here. */
export function coversLookBack({ since }: Pick<StoredWait, "since">, { events, isWhole }: NewestEvents): boolean {
  const oldest = events[0];
  return isWhole || (oldest !== undefined && since > oldest.receivedAt);
}

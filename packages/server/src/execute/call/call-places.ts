/**
 * Since when an event counts for a wait that a call leads to. A function that asks by an event in one step and waits for the
 * answer in the next is called twice, and the answer may come in between: so the call counts in which the last step was run.
 * Remembered only in memory, from one call to the next: after a restart, since the call itself.
 */

import type { RunNo } from "@inlet/protocol";
import type { EventPlace, RunState } from "../../store/contract/index.ts";

/** Runs that end otherwise leave theirs behind. */
const REMEMBERED_MAX = 10_000;

export class CallPlaces {
  readonly #places = new Map<RunNo, EventPlace>();

  /** A call ran steps to their end. */
  remember(runNo: RunNo, begun: EventPlace): void {
    if (this.#places.size >= REMEMBERED_MAX) this.#places.clear();
    this.#places.set(runNo, begun);
  }

  /** A call begins: what was remembered is for this one. */
  take(runNo: RunNo, begun: EventPlace): EventPlace {
    const before = this.#places.get(runNo);
    if (before) this.#places.delete(runNo);
    return before ?? begun;
  }
}

/** An event that ended one wait must not end the next: if one has ended meanwhile, only what came after the call began counts. */
export function placeForWait({ steps }: RunState, since: EventPlace, begun: EventPlace): EventPlace {
  const hasEnded = steps.some(({ kind, endedAt }) => kind === "wait" && endedAt !== null && endedAt >= since.at);
  return hasEnded ? begun : since;
}

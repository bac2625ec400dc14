/**
 * Finds the entry that takes its node down, without blaming those that were held beside it.
 *
 * When a node dies, everything it held is taken up again, and nobody knows what it was working on. An entry that was taken up
 * several times without an outcome is a suspect: before it is worked on that is written down, and suspects begin one after
 * the other, with a while in between. What was tried several times and never had an outcome is guilty.
 */

import type { ClaimedEntry } from "../../store/contract/index.ts";

/** Deaths of a node that an entry may see before it is watched. */
const CLAIMS_MAX = 3;
const TRIALS_MAX = 5;
/** What takes a node down does so within this time; the next suspect need not wait for the end of a long call. */
const WATCHED_MS = 1_000;

export class Suspects {
  readonly #noteTrial: (entry: ClaimedEntry) => Promise<void>;
  #turn: Promise<unknown> = Promise.resolve();

  constructor(noteTrial: (entry: ClaimedEntry) => Promise<void>) {
    this.#noteTrial = noteTrial;
  }

  isSuspect({ claims }: ClaimedEntry): boolean {
    return claims > CLAIMS_MAX;
  }

  isGuilty({ trials }: ClaimedEntry): boolean {
    return trials >= TRIALS_MAX;
  }

  /** Works on a suspect when it is its turn. */
  async watch(entry: ClaimedEntry, work: () => Promise<void>): Promise<void> {
    const before = this.#turn;
    let giveTurn: () => void = () => undefined;
    this.#turn = new Promise<void>((resolve) => (giveTurn = resolve));
    await before;
    const timer = setTimeout(giveTurn, WATCHED_MS);
    try {
      await this.#noteTrial(entry);
      await work();
    } finally {
      clearTimeout(timer);
      giveTurn();
    }
  }
}

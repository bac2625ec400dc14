/**
 * Slows down senders that ignore refusals over a quota. The refusals of one key or webhook are answered at a pace: beyond it, each waits for its turn,
 * for a second at most. A sender that tries again at once is then slowed by its own connections, and leaves the processor to others.
 * Nothing but the response waits: the body is gone by then.
 */

const REFUSALS_PER_SECOND = 500;
const BETWEEN_MS = 1_000 / REFUSALS_PER_SECOND;
const DELAY_MS_MAX = 1_000;

export class RefusalPacer {
  readonly #now: () => number;
  /** When the next refusal is due, by key or token. Only known ones exceed a quota, so there are few. */
  readonly #dueAt = new Map<string, number>();

  constructor(now: () => number) {
    this.#now = now;
  }

  /** Notes one more refusal, and returns how long its response waits. A clock that was set back makes nobody wait longer. */
  delayOf(keyText: string): number {
    const now = this.#now();
    const delayMs = Math.min(Math.max(0, (this.#dueAt.get(keyText) ?? 0) - now), DELAY_MS_MAX);
    this.#dueAt.set(keyText, now + delayMs + BETWEEN_MS);
    return delayMs;
  }
}

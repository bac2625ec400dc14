/** Bounds the total size of bodies in memory: beyond it, requests get 503 at once. */

/** The cost of a request in addition to its body, so that very many tiny requests are bounded too. */
const OVERHEAD_BYTES = 1_024;

export class BodyBudget {
  readonly #bytesMax: number;
  #bytesHeld = 0;

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  /** Reserves space for a request; null if there is none. A request that is alone is always accepted, however large. */
  enter(): BodyShare | null {
    const share = new BodyShare(this);
    return this.take(share, OVERHEAD_BYTES) ? share : null;
  }

  take(share: BodyShare, bytes: number): boolean {
    if (this.#bytesHeld > share.bytes && this.#bytesHeld + bytes > this.#bytesMax) return false;
    this.#bytesHeld += bytes;
    share.bytes += bytes;
    return true;
  }

  give(share: BodyShare): void {
    this.#bytesHeld -= share.bytes;
    share.bytes = 0;
  }
}

/** The part of the budget that one request holds. */
export class BodyShare {
  readonly #budget: BodyBudget;
  bytes = 0;

  constructor(budget: BodyBudget) {
    this.#budget = budget;
  }

  take(bytes: number): boolean {
    return this.#budget.take(this, bytes);
  }

  /** Returns part of the reserved space. */
  give(bytes: number): void {
    this.#budget.take(this, -bytes);
  }

  release(): void {
    this.#budget.give(this);
  }
}

/** Bounds the bodies held in memory at once, all requests together: past it the answer is 503, at once. */

/** What a request costs beside its body, so that very many tiny ones are bounded as well. */
const OVERHEAD_BYTES = 1_024;

export class BodyBudget {
  readonly #bytesMax: number;
  #bytesHeld = 0;

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  /** A request enters; null when there is no room. The only request is always let in, however large. */
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

/** One request's part of the budget. */
export class BodyShare {
  readonly #budget: BodyBudget;
  bytes = 0;

  constructor(budget: BodyBudget) {
    this.#budget = budget;
  }

  take(bytes: number): boolean {
    return this.#budget.take(this, bytes);
  }

  /** Gives back a part of what was taken. */
  give(bytes: number): void {
    this.#budget.take(this, -bytes);
  }

  release(): void {
    this.#budget.give(this);
  }
}

/**
 * Bounds the total size of bodies in memory: beyond it, requests get 503 at once.
 *
 * With several databases, requests for one of them hold at most half: those that wait for a slow database leave room for the others.
 */

/** The cost of a request in addition to its body, so that very many tiny requests are bounded too. */
const OVERHEAD_BYTES = 1_024;
/** Of the budget, for one database of several. */
const DATABASE_SHARE = 0.5;

export class BodyBudget {
  readonly #bytesMax: number;
  readonly #hasSeveralDatabases: () => boolean;
  #bytesHeld = 0;
  /** By the number of the database. */
  readonly #bytesHeldFor: number[] = [];

  constructor(bytesMax: number, hasSeveralDatabases: () => boolean = () => false) {
    this.#bytesMax = bytesMax;
    this.#hasSeveralDatabases = hasSeveralDatabases;
  }

  /** Reserves space for a request; null if there is none. A request that is alone is always accepted, however large. */
  enter(): BodyShare | null {
    const share = new BodyShare(this);
    return this.take(share, OVERHEAD_BYTES) ? share : null;
  }

  take(share: BodyShare, bytes: number): boolean {
    if (this.#bytesHeld > share.bytes && this.#bytesHeld + bytes > this.#bytesMax) return false;
    if (share.databaseNo !== null && this.#exceedsDatabase(share.databaseNo, share, bytes)) return false;
    this.#add(share, bytes);
    return true;
  }

  give(share: BodyShare, bytes: number): void {
    this.#add(share, -bytes);
  }

  /** False: the requests for this database hold too much. */
  assign(share: BodyShare, databaseNo: number): boolean {
    const { bytes } = share;
    this.give(share, bytes);
    share.databaseNo = databaseNo;
    return this.take(share, bytes);
  }

  #exceedsDatabase(no: number, share: BodyShare, bytes: number): boolean {
    const held = this.#bytesHeldFor[no] ?? 0;
    return held > share.bytes && held + bytes > this.#bytesMax * DATABASE_SHARE && this.#hasSeveralDatabases();
  }

  #add(share: BodyShare, bytes: number): void {
    this.#bytesHeld += bytes;
    share.bytes += bytes;
    const { databaseNo: no } = share;
    if (no !== null) this.#bytesHeldFor[no] = (this.#bytesHeldFor[no] ?? 0) + bytes;
  }
}

/** The part of the budget that one request holds. */
export class BodyShare {
  readonly #budget: BodyBudget;
  bytes = 0;
  /** The database that the request is for; null while that is not known. */
  databaseNo: number | null = null;

  constructor(budget: BodyBudget) {
    this.#budget = budget;
  }

  /** The request is for this database. False: it is refused. */
  isFor(databaseNo: number): boolean {
    return this.#budget.assign(this, databaseNo);
  }

  take(bytes: number): boolean {
    return this.#budget.take(this, bytes);
  }

  /** Returns part of the reserved space. */
  give(bytes: number): void {
    this.#budget.give(this, bytes);
  }

  release(): void {
    this.#budget.give(this, this.bytes);
  }
}

/**
 * The right to write archived files, which one node has at a time, for one file at a time: what archives partitions and what erases from files
 * would otherwise overwrite each other's. A node that stands still loses it, and finds that out before it finishes a file.
 */

import type { LeadershipStore, Store } from "../store/contract/index.ts";

const WORK = "archive";
const LEASE_MS = 60_000;
const RENEW_MS = 20_000;
const LOST = Number.NEGATIVE_INFINITY;

export interface ArchiveLeaseParts {
  store: LeadershipStore & Pick<Store, "storeNode">;
  now(): number;
}

/** Throws if the lease was lost. */
export type CheckLease = () => void;

export class ArchiveLost extends Error {}

export class ArchiveLease {
  readonly #parts: ArchiveLeaseParts;
  /** What this node does with it. */
  #running: Promise<unknown> | null = null;

  constructor(parts: ArchiveLeaseParts) {
    this.#parts = parts;
  }

  get isBusy(): boolean {
    return this.#running !== null;
  }

  /** Resolves when this node does nothing with it. */
  async whenFree(): Promise<void> {
    while (this.#running) await this.#running;
  }

  /** Null: somebody else has it, or this node uses it already. */
  async run<Result>(work: (check: CheckLease) => Promise<Result>): Promise<Result | null> {
    if (this.#running) return null;
    const result = this.#runAlone(work);
    this.#running = result.then(ignore, ignore);
    try {
      return await result;
    } finally {
      this.#running = null;
    }
  }

  async #runAlone<Result>(work: (check: CheckLease) => Promise<Result>): Promise<Result | null> {
    const { store } = this.#parts;
    let until = await this.#take();
    if (until === LOST) return null;
    const isMine = () => this.#parts.now() < until;
    const renew = async () => {
      if (!isMine()) return clearInterval(renewal);
      const renewed = await this.#take();
      // Once it was over, another node may have written files in between.
      until = isMine() ? renewed : LOST;
    };
    const renewal = setInterval(() => void renew().catch(ignore), RENEW_MS).unref();
    try {
      return await work(() => {
        if (!isMine()) throw new ArchiveLost("this node lost the right to write the archive");
      });
    } finally {
      clearInterval(renewal);
      await store.leadershipResign({ work: WORK, node: store.storeNode }).catch(() => undefined);
    }
  }

  /** Until when this node has it. */
  async #take(): Promise<number> {
    const { store, now } = this.#parts;
    const from = now();
    const until = from + LEASE_MS;
    return (await store.leadershipTake({ work: WORK, node: store.storeNode, now: from, until })) ? until : LOST;
  }
}

function ignore(): void {}

/**
 * The right to write archived files, which one node has at a time, for one file at a time: what archives partitions and what erases from files
 * would otherwise overwrite each other's. A node that stands still loses it, and finds that out before it finishes a file.
 */

import type { LeadershipStore, Store } from "../store/contract/index.ts";

const WORK = "archive";
const LEASE_MS = 60_000;
const RENEW_MS = 20_000;

export interface ArchiveLeaseParts {
  store: LeadershipStore & Pick<Store, "storeNode">;
  now(): number;
}

/** Throws if the lease was lost. */
export type CheckLease = () => void;

export class ArchiveLost extends Error {}

export class ArchiveLease {
  readonly #parts: ArchiveLeaseParts;
  #isTaken = false;

  constructor(parts: ArchiveLeaseParts) {
    this.#parts = parts;
  }

  /** Null: somebody else has it. */
  async run<Result>(work: (check: CheckLease) => Promise<Result>): Promise<Result | null> {
    if (this.#isTaken) return null;
    this.#isTaken = true;
    try {
      return await this.#runAlone(work);
    } finally {
      this.#isTaken = false;
    }
  }

  async #runAlone<Result>(work: (check: CheckLease) => Promise<Result>): Promise<Result | null> {
    const { store } = this.#parts;
    const held = { until: 0 };
    if (!(await this.#take(held))) return null;
    const renewal = setInterval(() => void this.#take(held).catch(() => undefined), RENEW_MS).unref();
    try {
      return await work(() => {
        if (this.#parts.now() >= held.until) throw new ArchiveLost("this node lost the right to write the archive");
      });
    } finally {
      clearInterval(renewal);
      await store.leadershipResign({ work: WORK, node: store.storeNode }).catch(() => undefined);
    }
  }

  async #take(held: { until: number }): Promise<boolean> {
    const { store, now } = this.#parts;
    const from = now();
    const isMine = await store.leadershipTake({ work: WORK, node: store.storeNode, now: from, until: from + LEASE_MS });
    held.until = isMine ? from + LEASE_MS : 0;
    return isMine;
  }
}

/**
 * Concurrency limits of functions across nodes that share a store.
 *
 * A limit is kept by one node at a time: only that node works on what falls under it, so that counting in its memory is counting
 * for all. Events accepted elsewhere wait in the queue for it, which takes them up as soon as it is told. A node keeps a limit
 * while it has work under it; one that dies loses it with its lease.
 */

import type { QueueStore } from "../../store/contract/index.ts";

export interface LimitHoldersParts {
  store: Pick<QueueStore, "queueLimitHold" | "queueLimitRelease">;
  node: string;
  /** The limits a lane falls under that count across nodes. */
  limitsOf(lane: string): readonly string[];
  /** Whether anything of this lane is here. */
  isInUse(lane: string): boolean;
  leaseUntil(): number;
  now(): number;
}

/** A commit that hands work over takes less. */
const CLOSING_MS = 1_000;

export class LimitHolders {
  readonly #parts: LimitHoldersParts;
  /** Lanes whose limits are kept here. */
  readonly #lanes = new Map<string, readonly string[]>();
  /** Lanes that are about to be let go: nothing more is handed to this node, but what is on its way may still arrive. */
  readonly #closing = new Set<string>();
  readonly #timers = new Map<string, NodeJS.Timeout>();
  /** What is asked of the store happens in the order it was asked. */
  #last: Promise<unknown> = Promise.resolve();

  constructor(parts: LimitHoldersParts) {
    this.#parts = parts;
  }

  /** Whether entries of this lane may be handed to this node. */
  mayTake(lane: string): boolean {
    return (this.#lanes.has(lane) && !this.#closing.has(lane)) || this.#parts.limitsOf(lane).length === 0;
  }

  /** Throws when another node keeps one of the lane's limits: it will take the work up. */
  async hold(lane: string): Promise<void> {
    this.#closing.delete(lane);
    if (this.mayTake(lane)) return;
    const ids = this.#parts.limitsOf(lane);
    const isHeld = await this.#inOrder(() => this.#ask(ids));
    if (!isHeld) throw new Error(`another node keeps a limit of ${lane}`);
    this.#lanes.set(lane, ids);
  }

  /** Nothing of this lane is left here: if it stays so, its limits are let go, once nothing can be on its way any more. */
  noteEmpty(lane: string): void {
    if (!this.#lanes.has(lane) || this.#timers.has(lane)) return;
    this.#after(lane, () => {
      if (this.#parts.isInUse(lane)) return;
      this.#closing.add(lane);
      this.#after(lane, () => {
        const isLeft = this.#closing.delete(lane) && !this.#parts.isInUse(lane);
        if (isLeft) this.#letGo(lane);
      });
    });
  }

  #after(lane: string, act: () => void): void {
    const timer = setTimeout(() => {
      this.#timers.delete(lane);
      act();
    }, CLOSING_MS);
    this.#timers.set(lane, timer.unref());
  }

  #letGo(lane: string): void {
    const ids = this.#lanes.get(lane);
    if (!ids) return;
    this.#lanes.delete(lane);
    this.#release(ids);
  }

  /** Functions were registered: a lane whose limits are others now is asked for anew. */
  refresh(): void {
    for (const [lane, ids] of this.#lanes) if (this.#parts.limitsOf(lane).join() !== ids.join()) this.#letGo(lane);
  }

  /** What could not be prolonged is another node's by now. */
  async renew(): Promise<void> {
    for (const [lane, ids] of this.#lanes) {
      const isHeld = await this.#inOrder(() => this.#ask(ids)).catch(() => true);
      if (!isHeld) this.#lanes.delete(lane);
    }
  }

  async stop(): Promise<void> {
    for (const timer of this.#timers.values()) clearTimeout(timer);
    for (const lane of [...this.#lanes.keys()]) this.#letGo(lane);
    await this.#last.catch(() => {});
  }

  async #ask(ids: readonly string[]): Promise<boolean> {
    const { store, node, now, leaseUntil } = this.#parts;
    const isHeld = await store.queueLimitHold({ ids, node, now: now(), until: leaseUntil() });
    if (!isHeld) this.#release(ids);
    return isHeld;
  }

  /** Those that no other lane here needs. */
  #release(ids: readonly string[]): void {
    const { store, node } = this.#parts;
    const isFree = (id: string) => ![...this.#lanes.values()].some((kept) => kept.includes(id));
    const releaseFree = async () => {
      const free = ids.filter(isFree);
      if (free.length > 0) await store.queueLimitRelease({ ids: free, node });
    };
    this.#inOrder(releaseFree).catch(() => {});
  }

  #inOrder<Result>(work: () => Promise<Result>): Promise<Result> {
    const result = this.#last.then(work, work);
    this.#last = result.catch(() => {});
    return result;
  }
}

/**
 * The share of one environment's quotas that this node has leased from the store, while other nodes share the store. A lease is a part of the
 * quota, for the rest of its second or day: nodes together never accept more than the quota, and what each holds unused at the end is less
 * than its share of a twentieth.
 *
 * A lease is worth something only under the limit under which it was granted. When the quota is changed or removed, what is unused of it goes back to
 * the store, also what requests in progress give back later.
 */

import { DAY_MS, type EnvironmentId, SECOND_MS } from "@inlet/protocol";
import type { EnvironmentQuotas, UsageStore } from "../../store/contract/index.ts";
import { type Amount, amountOf, type Exceeded, REFUSING, type RefusingQuota } from "./quota-use.ts";

/** All nodes together hold at most this share of a quota unused. */
const UNUSED_SHARE = 0.05;
/** After a lease was denied, the store is asked again this much later: another node may have given some back. */
const ASK_AGAIN_MS = 500;

export interface QuotaLeasesParts {
  store: Pick<UsageStore, "quotaLease" | "quotaRelease">;
  environmentId: EnvironmentId;
  /** How many share the quotas. */
  nodes(): number;
}

/** Leased under one limit. */
export interface Held {
  quota: RefusingQuota;
  limit: number;
  period: number;
  left: number;
  /** The last lease that was denied. */
  denied?: { missing: number; at: number; leased: number };
}

const FIGURES = { eventsPerSecond: null, eventsPerDay: "accepted", bytesPerDay: "bytes" } as const;

export class QuotaLeases {
  readonly #parts: QuotaLeasesParts;
  readonly #held = new Map<RefusingQuota, Held>();
  /** One request at a time, so that many that come together need one lease. */
  #last: Promise<unknown> = Promise.resolve();

  constructor(parts: QuotaLeasesParts) {
    this.#parts = parts;
  }

  /**
   * Uses leased allowance, and leases more if there is too little. Returns of what it was taken, for `give`, or the quota without room; then, or if
   * it throws, nothing is used.
   */
  take(quotas: EnvironmentQuotas, now: number, wanted: Amount): Promise<Held[] | Exceeded> {
    return this.#next(async () => {
      await this.#returnChanged(quotas);
      return this.#take(quotas, now, wanted);
    });
  }

  give(taken: readonly Held[], unused: Amount): void {
    for (const held of taken) {
      held.left += amountOf(held.quota, unused);
      const current = this.#held.get(held.quota);
      const isOver = current !== undefined && current.period > held.period;
      if (current !== held && !isOver) void this.#next(() => this.#return(held)).catch(() => undefined);
    }
  }

  /** Other nodes can use what this one holds under a limit that is not in force any more, even if nothing is accepted here. */
  follow(quotas: EnvironmentQuotas): void {
    if (this.#changed(quotas).length > 0) void this.#next(() => this.#returnChanged(quotas));
  }

  /** Resolves when everything that was asked for has its response. */
  async idle(): Promise<void> {
    await this.#last;
  }

  /** Gives the store back what is left, so that other nodes can use it. */
  async release(): Promise<void> {
    for (const held of this.#held.values()) await this.#return(held);
  }

  #next<Result>(work: () => Promise<Result>): Promise<Result> {
    const done = this.#last.then(work);
    this.#last = done.catch(() => {});
    return done;
  }

  #changed(quotas: EnvironmentQuotas): Held[] {
    return [...this.#held.values()].filter(({ quota, limit }) => quotas[quota] !== limit);
  }

  /** What cannot be given back is unused until the period ends. */
  async #returnChanged(quotas: EnvironmentQuotas): Promise<void> {
    for (const held of this.#changed(quotas)) await this.#return(held).catch(() => undefined);
  }

  async #return(held: Held): Promise<void> {
    const { store, environmentId } = this.#parts;
    const { quota, period, left: unused } = held;
    if (this.#held.get(quota) === held) this.#held.delete(quota);
    held.left = 0;
    if (unused === 0) return;
    await store.quotaRelease({ environmentId, quota, period, unused });
    // There may be room now.
    delete this.#held.get(quota)?.denied;
  }

  async #take(quotas: EnvironmentQuotas, now: number, wanted: Amount): Promise<Held[] | Exceeded> {
    const taken: Held[] = [];
    for (const quota of REFUSING) {
      const [limit, needed] = [quotas[quota], amountOf(quota, wanted)];
      if (limit === null || needed === 0) continue;
      const held = await this.#hold(quota, limit, now, needed).catch((error) => {
        this.give(taken, wanted);
        throw error;
      });
      if ("wanted" in held) {
        this.give(taken, wanted);
        return held;
      }
      held.left -= needed;
      taken.push(held);
    }
    return taken;
  }

  /** A lease with at least `needed` of the quota, or why there is not as much. */
  async #hold(quota: RefusingQuota, limit: number, now: number, needed: number): Promise<Held | Exceeded> {
    const { store, environmentId, nodes } = this.#parts;
    const period = periodOf(quota, now);
    const known = this.#held.get(quota);
    const held = known && known.period >= period ? known : { quota, limit, period, left: 0 };
    this.#held.set(quota, held);
    if (held.left >= needed) return held;
    const missing = needed - held.left;
    const { denied } = held;
    const resetsAt = period + lengthOf(quota);
    const deny = (leased: number) => ({ quota, limit, used: Math.max(0, leased - held.left), wanted: needed, resetsAt });
    if (denied && missing >= denied.missing && performance.now() - denied.at < ASK_AGAIN_MS) return deny(denied.leased);
    const share = Math.floor((limit * UNUSED_SHARE) / nodes());
    const asked = { environmentId, quota, period, limit, needed: missing, wanted: Math.max(missing, share), figure: FIGURES[quota] };
    const { granted, leased } = await store.quotaLease(asked);
    held.left += granted;
    if (granted >= missing) return held;
    held.denied = { missing, at: performance.now(), leased };
    return deny(leased);
  }
}

function lengthOf(quota: RefusingQuota): number {
  return quota === "eventsPerSecond" ? SECOND_MS : DAY_MS;
}

function periodOf(quota: RefusingQuota, at: number): number {
  return at - (at % lengthOf(quota));
}

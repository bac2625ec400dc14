/** What this node knows about the use of one environment's quotas. */

import { DAY_MS } from "@inlet/protocol";
import type { EnvironmentQuotas, Quota } from "../../store/contract/index.ts";
import { type Moment, SecondWindow } from "./second-window.ts";

/** The quotas that refuse events. */
export const REFUSING = ["eventsPerSecond", "eventsPerDay", "bytesPerDay"] as const satisfies readonly Quota[];
export type RefusingQuota = (typeof REFUSING)[number];

export interface Amount {
  events: number;
  bytes: number;
}

/** A quota that has no room for a request. */
export interface Exceeded {
  quota: RefusingQuota;
  limit: number;
  /** Without the refused request. */
  used: number;
  /** What the request needs. */
  wanted: number;
  resetsAt: number;
}

export class QuotaUse {
  readonly second = new SecondWindow();
  #day = 0;
  #used: Amount = { events: 0, bytes: 0 };
  #unsettled = 0;
  /** Of all that is not settled. */
  readonly #reserved: Amount = { events: 0, bytes: 0 };
  #waiting: (() => void)[] = [];

  get hasUnsettled(): boolean {
    return this.#unsettled > 0;
  }

  ofDay(now: number): Amount {
    this.#enterDay(now);
    return this.#used;
  }

  /** What the store has counted on this day. No request is in progress. */
  setDay(now: number, counted: Amount): void {
    this.#day = dayOf(now);
    this.#used = { ...counted };
  }

  reserve(now: number, { events, bytes }: Amount): Moment {
    this.#enterDay(now);
    this.#used.events += events;
    this.#used.bytes += bytes;
    this.#unsettled++;
    this.#reserved.events += events;
    this.#reserved.bytes += bytes;
    return this.second.add(now, events);
  }

  /** Ends a reservation of `wanted`; `unused` was not stored. */
  settle(at: number, moment: Moment, wanted: Amount, unused: Amount): void {
    this.second.remove(moment, unused.events);
    if (dayOf(at) === this.#day) {
      this.#used.events -= unused.events;
      this.#used.bytes -= unused.bytes;
    }
    this.#unsettled--;
    this.#reserved.events -= wanted.events;
    this.#reserved.bytes -= wanted.bytes;
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const wake of waiting) wake();
  }

  /** Whether there would be room for a request, if all that is in progress turned out to be duplicates. */
  mayFit(exceeded: readonly Exceeded[]): boolean {
    return exceeded.every(({ quota, limit, used, wanted }) => used - amountOf(quota, this.#reserved) + wanted <= limit);
  }

  /** Resolves when a reservation in progress ends. */
  settled(): Promise<void> {
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  /** Whether nothing is exceeded. Asked for every request. */
  hasRoom({ eventsPerSecond, eventsPerDay, bytesPerDay }: EnvironmentQuotas, now: number, { events, bytes }: Amount): boolean {
    this.#enterDay(now);
    if (eventsPerSecond !== null && events > 0 && this.second.used(now) + events > eventsPerSecond) return false;
    if (eventsPerDay !== null && events > 0 && this.#used.events + events > eventsPerDay) return false;
    return bytesPerDay === null || bytes === 0 || this.#used.bytes + bytes <= bytesPerDay;
  }

  exceeded(quotas: EnvironmentQuotas, now: number, wanted: Amount): Exceeded[] {
    this.#enterDay(now);
    const found: Exceeded[] = [];
    const check = (quota: RefusingQuota, used: number, more: number, resetsAt: (room: number) => number) => {
      const limit = quotas[quota];
      if (limit !== null && more > 0 && used + more > limit)
        found.push({ quota, limit, used, wanted: more, resetsAt: resetsAt(used + more - limit) });
    };
    const tomorrow = () => (this.#day + 1) * DAY_MS;
    check("eventsPerSecond", this.second.used(now), wanted.events, (room) => this.second.freeAt(now, room));
    check("eventsPerDay", this.#used.events, wanted.events, tomorrow);
    check("bytesPerDay", this.#used.bytes, wanted.bytes, tomorrow);
    return found;
  }

  /** A request of yesterday may come after one of today. Any other day before this one shows that the clock was ahead. */
  #enterDay(now: number): void {
    const day = dayOf(now);
    if (day === this.#day || day === this.#day - 1) return;
    this.#day = day;
    this.#used = { events: 0, bytes: 0 };
  }
}

export function amountOf(quota: RefusingQuota, { events, bytes }: Amount): number {
  return quota === "bytesPerDay" ? bytes : events;
}

/** UTC. */
export function dayOf(now: number): number {
  return Math.floor(now / DAY_MS);
}

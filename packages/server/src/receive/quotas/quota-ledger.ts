/**
 * The quotas of environments on events and bytes. Everything that accepts events reserves them here before they are stored, and returns what turned
 * out to be a duplicate or was not stored. Requests in progress use nothing if they are duplicates: a request waits for them if it would fit then,
 * and is refused at once if not.
 *
 * A process that uses the store alone knows all usage, and a quota is exact. Nodes that share a store lease parts of each quota (quota-leases.ts).
 * A node that is left alone reads what was used while none of its requests is in progress: what it reads has all earlier requests and no later one.
 * A shared store may have stored what it did not confirm: from then on the node leases as if there were others, until it has read what was used.
 */

import { DAY_MS, type EnvironmentId, type Refusal } from "@inlet/protocol";
import type { Logger } from "pino";
import { type Environment, type EnvironmentQuotas, type StoreItself, sharedRefresh, type UsageStore } from "../../store/contract/index.ts";
import { QuotaLeases } from "./quota-leases.ts";
import { quotaExceeded } from "./quota-refusal.ts";
import { type Amount, dayOf, type Exceeded, QuotaUse, REFUSING } from "./quota-use.ts";

const NODES_EVERY_MS = 2_000;

export interface QuotaLedgerParts {
  store: Pick<UsageStore, "usageList" | "quotaLease" | "quotaRelease"> & Pick<StoreItself, "storeIsShared" | "storeReport" | "storeWatch">;
  directory: {
    environment(id: EnvironmentId): Environment | undefined;
    environments(): Environment[];
    /** Called after each read of the environments. */
    onRefresh(listener: () => void): void;
  };
  log: Logger;
  now(): number;
}

export interface QuotaRequest extends Amount {
  environmentId: EnvironmentId;
  at: number;
  /** How many of the events are new; asked only if there is no room for all of them, and again when others have been stored. Null: all are. */
  countNew: (() => Promise<number>) | null;
}

/** A reservation. It has to be settled, whatever happens. */
export interface QuotaTaken {
  /** How many of the events were stored. `unknown`: the store did not say. */
  settle(stored: number | "unknown"): void;
}

interface Tracked {
  use: QuotaUse;
  leases: QuotaLeases;
  /** `use` is all there is: no other node uses the quotas. */
  isAlone: boolean;
  /** While what was used is read. Nothing is reserved meanwhile. */
  reading: Promise<void> | null;
}

export class QuotaLedger {
  readonly #parts: QuotaLedgerParts;
  readonly #tracked = new Map<EnvironmentId, Tracked>();
  #nodes = 1;
  #timer: NodeJS.Timeout | null = null;
  #unwatch: (() => void) | null = null;
  #counting: Promise<void> = Promise.resolve();

  constructor(parts: QuotaLedgerParts) {
    this.#parts = parts;
  }

  /** Reads what was used today. Before the first request. */
  async load(): Promise<void> {
    if (this.#parts.store.storeIsShared) await this.#countNodes();
    await this.#readToday(this.#parts.directory.environments().map(({ id }) => id));
  }

  start(): void {
    const { store, directory } = this.#parts;
    if (!store.storeIsShared || this.#timer) return;
    this.#timer = setInterval(() => void this.#count(), NODES_EVERY_MS).unref();
    const follow = () => {
      for (const { id, quotas } of directory.environments()) this.#of(id).leases.follow(quotas);
    };
    directory.onRefresh(follow);
    // What was changed since the first request.
    follow();
    // A node that joins says so before it accepts anything: a quota that this node kept alone is shared from then on.
    this.#unwatch = store.storeWatch((topic) => {
      if (topic === "directory") void this.#count();
    });
  }

  async stop(): Promise<void> {
    if (this.#timer) clearInterval(this.#timer);
    this.#unwatch?.();
    await this.#counting;
    // What cannot be given back is unused until the period ends.
    for (const { leases } of this.#tracked.values()) await leases.release().catch(() => undefined);
  }

  /** Events of the last second, on this node. */
  usedInSecond(environmentId: EnvironmentId): number {
    return this.#of(environmentId).use.second.used(this.#parts.now());
  }

  async take(request: QuotaRequest): Promise<QuotaTaken | Refusal> {
    const tracked = this.#of(request.environmentId);
    const { use } = tracked;
    /** Of the request, without what is known to be a duplicate. */
    let needed: Amount = request;
    let isCounted = request.countNew === null;
    for (;;) {
      if (tracked.reading) await tracked.reading;
      // A quota may be changed while the request waits.
      const environment = this.#parts.directory.environment(request.environmentId);
      const limits = environment && REFUSING.some((quota) => environment.quotas[quota] !== null) ? environment.quotas : null;
      if (!limits) return this.#reserved(request, request);
      const { isAlone } = tracked;
      const outcome = isAlone ? this.#reserveAlone(request, limits, needed) : await this.#reserveLeased(request, limits, needed);
      if (!Array.isArray(outcome)) return outcome;
      if (use.hasUnsettled && use.mayFit(outcome)) {
        await use.settled();
        isCounted = request.countNew === null;
      } else if (request.countNew && !isCounted) {
        const events = await request.countNew();
        isCounted = true;
        needed = events === 0 ? { events: 0, bytes: 0 } : { events, bytes: request.bytes };
      } else return quotaExceeded(environment?.name ?? "", outcome, this.#parts.now());
    }
  }

  #reserveAlone(request: QuotaRequest, quotas: EnvironmentQuotas, wanted: Amount): QuotaTaken | Exceeded[] {
    const { use } = this.#of(request.environmentId);
    return use.hasRoom(quotas, request.at, wanted) ? this.#reserved(request, wanted) : use.exceeded(quotas, request.at, wanted);
  }

  /** Of nodes that share a quota of a day, none knows what the others used: the leases decide. */
  async #reserveLeased(request: QuotaRequest, quotas: EnvironmentQuotas, wanted: Amount): Promise<QuotaTaken | Exceeded[]> {
    const { environmentId, at } = request;
    const { use, leases } = this.#of(environmentId);
    const exceeded = use.exceeded({ ...quotas, eventsPerDay: null, bytesPerDay: null }, at, wanted);
    if (exceeded.length > 0) return exceeded;
    const taken = await leases.take(quotas, at, wanted);
    if (!Array.isArray(taken)) return [taken];
    const reserved = this.#reserved(request, wanted);
    return {
      settle(stored) {
        leases.give(taken, unusedOf(wanted, stored));
        reserved.settle(stored);
      },
    };
  }

  #reserved({ environmentId, at }: QuotaRequest, wanted: Amount): QuotaTaken {
    const tracked = this.#of(environmentId);
    const { use } = tracked;
    const moment = use.reserve(at, wanted);
    return {
      settle: (stored) => {
        if (stored === "unknown" && this.#parts.store.storeIsShared) tracked.isAlone = false;
        use.settle(at, moment, wanted, unusedOf(wanted, stored));
      },
    };
  }

  #of(environmentId: EnvironmentId): Tracked {
    const known = this.#tracked.get(environmentId);
    if (known) return known;
    const leases = new QuotaLeases({ store: this.#parts.store, environmentId, nodes: () => this.#nodes });
    const tracked = { use: new QuotaUse(), leases, isAlone: this.#nodes <= 1, reading: null };
    this.#tracked.set(environmentId, tracked);
    return tracked;
  }

  /** One query at a time, which began after the last call. */
  readonly #countShared = sharedRefresh(() => this.#countNodes());

  async #count(): Promise<void> {
    this.#counting = this.#countShared().catch((error) =>
      this.#parts.log.debug({ err: error }, "the nodes could not be counted; this will be retried"),
    );
    await this.#counting;
  }

  async #countNodes(): Promise<void> {
    const { nodes } = await this.#parts.store.storeReport();
    const alive = nodes.filter(({ isGone }) => !isGone).length;
    const all = this.#parts.directory.environments().map(({ id }) => ({ id, tracked: this.#of(id) }));
    this.#nodes = Math.max(1, alive);
    if (alive > 1) for (const tracked of this.#tracked.values()) tracked.isAlone = false;
    else for (const { id, tracked } of all) if (!tracked.isAlone) await this.#becomeAlone(id, tracked);
  }

  /** A node that is left alone knows what the others used from the store. */
  async #becomeAlone(environmentId: EnvironmentId, tracked: Tracked): Promise<void> {
    const { use, leases } = tracked;
    const { promise, resolve } = Promise.withResolvers<void>();
    tracked.reading = promise;
    try {
      await leases.idle();
      while (use.hasUnsettled) await use.settled();
      await this.#readToday([environmentId]);
      await leases.release();
      tracked.isAlone = true;
    } finally {
      tracked.reading = null;
      resolve();
    }
  }

  async #readToday(environmentIds: readonly EnvironmentId[]): Promise<void> {
    const { store, now } = this.#parts;
    const from = dayOf(now()) * DAY_MS;
    const used = await store.usageList({ environmentIds, kind: "environment", from, to: from + DAY_MS, intervalMs: DAY_MS });
    for (const { environmentId, figures } of used) {
      this.#of(environmentId).use.setDay(from, { events: figures.accepted, bytes: figures.bytes });
    }
  }
}

/** A body counts if at least one of its events was stored. */
function unusedOf({ events, bytes }: Amount, stored: number | "unknown"): Amount {
  if (stored === "unknown") return { events, bytes };
  return { events: events - stored, bytes: stored === 0 ? bytes : 0 };
}

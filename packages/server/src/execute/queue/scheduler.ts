/**
 * Selects the next entry to process. Entries that this node holds are in lanes in memory; a lane advances while its app accepts more
 * calls. Entries that do not fit in memory stay in the store's queue and are claimed when the lane runs low, so an app that does not
 * respond blocks only its own lanes. Concurrency limits are in the store: a lane whose limits are full claims again when
 * a slot is free, the lane that has waited longest first.
 */

import type { EnvironmentId, FunctionNo, LeaseId } from "@inlet/protocol";
import type { ClaimedEntry, LimitRule, QueueClaimResult } from "../../store/contract/index.ts";
import type { Clock } from "../clock.ts";
import { holdsLease } from "./holds-lease.ts";
import { PollSpread } from "./poll-spread.ts";

/** A lane with less than this fraction of its capacity left claims more. */
const LOW_SHARE = 0.25;
const CLAIM_MAX = 1_000;
/** A node that held slots may have died: full lanes claim again after this time. */
const FULL_POLL_MS = 5_000;
const RETRY_MS = 1_000;

/** The rules of a lane. */
export interface LaneRules {
  /** Counted across nodes, in the store. */
  limits: readonly LimitRule[];
  /** How many calls this node sends to the lane's app at once. */
  app: LimitRule;
}

export interface SchedulerParts {
  /** Processes an entry; must not throw. `signal` is aborted if the lease is lost. */
  work(entry: ClaimedEntry, signal: AbortSignal): Promise<void>;
  claim(lane: string, limit: number, limits: readonly LimitRule[]): Promise<QueueClaimResult>;
  rulesOf(lane: string): LaneRules;
  /** The number of the database that has the entries of a lane. */
  databaseOf(lane: string): number;
  /** Returns entries to the store's queue. Never throws. */
  release(entries: readonly ClaimedEntry[]): Promise<void>;
  /** The limits that apply to a call now. */
  limitsOf(entry: ClaimedEntry): readonly LimitRule[];
  /** Calls in progress take slots of limits that they were claimed without. Never throws. */
  takeSlots(calls: readonly (ClaimedEntry & { limits: readonly LimitRule[] })[]): Promise<void>;
  /** Maximum number of waiting entries of a lane that this node holds. */
  prefetch: number;
  clock: Clock;
}

interface Lane {
  key: string;
  limits: readonly LimitRule[];
  app: AppCalls;
  waiting: ClaimedEntry[];
  working: number;
  /** There are more in the store. New entries must not overtake them. */
  hasBacklog: boolean;
  isClaiming: boolean;
  /** Entries were added to the store's queue since the last claim began. */
  wasNoted: boolean;
  /** Limits had no free slot at the last claim; cancels the planned retry. */
  cancelPoll: (() => void) | null;
}

interface InWork {
  entry: ClaimedEntry;
  lease: AbortController;
  /** The limits of which it holds slots. */
  limitIds: Set<string>;
}

interface AppCalls {
  id: string;
  cap: number;
  inUse: number;
  /** Lanes blocked by it. */
  blocked: Set<Lane>;
  /** How many lanes call it. */
  lanes: number;
}

export class Scheduler {
  readonly #parts: SchedulerParts;
  readonly #lanes = new Map<string, Lane>();
  readonly #apps = new Map<string, AppCalls>();
  /** For each limit in each database, which counts by itself, the lanes that wait for a slot, longest waiting first. */
  readonly #full = new Map<string, Set<Lane>>();
  readonly #spread = new PollSpread();
  /** How many lanes wait for a slot. */
  #fullLanes = 0;
  /** The databases of lanes that have waited for a slot. */
  readonly #databaseNos = new Set<number>();
  /** Limits whose lanes are claiming in turn, and whether more slots were freed in the meantime. */
  readonly #claimingInOrder = new Map<string, boolean>();
  readonly #working = new Set<Promise<void>>();
  readonly #claiming = new Set<Promise<void>>();
  readonly #inWork = new Map<LeaseId, InWork>();
  /** Until calls in progress have slots of the limits in force, nothing is claimed: there would seem to be more free ones. */
  #takingSlots: Promise<void> | null = null;
  #stopped = false;

  constructor(parts: SchedulerParts) {
    this.#parts = parts;
  }

  /** How many new entries of a lane may be leased to this node when they are written. Entries that need slots are claimed instead. */
  roomIn(key: string): number {
    if (this.#stopped) return 0;
    const lane = this.#lanes.get(key);
    if (!lane) return this.#parts.rulesOf(key).limits.length > 0 ? 0 : this.#parts.prefetch;
    return lane.hasBacklog || lane.limits.length > 0 ? 0 : Math.max(this.#parts.prefetch - lane.waiting.length, 0);
  }

  /** By environment, since when the oldest of the next entries in each lane waits. */
  waitingSince(): Map<EnvironmentId, number> {
    const oldest = new Map<EnvironmentId, number>();
    for (const { waiting } of this.#lanes.values()) {
      const [next] = waiting;
      if (next) oldest.set(next.environmentId, Math.min(next.dueAt, oldest.get(next.environmentId) ?? next.dueAt));
    }
    return oldest;
  }

  /** By function, since when the oldest entry waits here. */
  functionsWaitingSince(): Map<FunctionNo, number> {
    const oldest = new Map<FunctionNo, number>();
    for (const { waiting } of this.#lanes.values()) {
      for (const { functionNo, dueAt } of waiting) oldest.set(functionNo, Math.min(dueAt, oldest.get(functionNo) ?? dueAt));
    }
    return oldest;
  }

  /** Adds entries that were leased to this node when they were written. They hold no slots: of a lane that was limited since, they are returned. */
  take(entries: readonly ClaimedEntry[]): void {
    const lanes = new Set<Lane>();
    for (const entry of entries) {
      const lane = this.#lane(entry.lane);
      insertByRank(lane.waiting, entry);
      lanes.add(lane);
    }
    for (const lane of lanes) {
      if (lane.limits.length > 0) this.#giveBack(lane, new Set(entries));
      this.#move(lane);
    }
  }

  /** The store has unleased entries of this lane. */
  noteBacklog(key: string): void {
    const lane = this.#lane(key);
    lane.hasBacklog = true;
    lane.wasNoted = true;
    void this.#refill(lane);
  }

  /** Slots of these limits may be free, in one of the databases. */
  noteFreed(limitIds: readonly string[]): void {
    for (const id of limitIds) {
      for (const no of this.#databaseNos) if (this.#full.has(countedIn(no, id))) void this.#claimInOrder(countedIn(no, id));
    }
  }

  /** Limits may have changed: functions were registered again. */
  refreshRules(): void {
    this.#takeSlots();
    for (const lane of this.#lanes.values()) {
      const { app, limits } = lane;
      Object.assign(lane, this.#rulesOf(lane.key));
      this.#dereference(app);
      this.#unblock(lane);
      if (isLimitedSince(lane, limits)) this.#giveBack(lane, new Set(lane.waiting));
      this.#move(lane);
    }
  }

  #takeSlots(): void {
    const calls = [...this.#inWork.values()].flatMap(({ entry, limitIds }) => {
      const limits = this.#parts.limitsOf(entry).filter(({ id }) => !limitIds.has(id));
      for (const { id } of limits) limitIds.add(id);
      return limits.length > 0 ? [{ ...entry, limits }] : [];
    });
    if (calls.length === 0) return;
    const taking = Promise.all([this.#takingSlots, this.#parts.takeSlots(calls)]).then(() => {
      if (this.#takingSlots === taking) this.#takingSlots = null;
    });
    this.#takingSlots = taking;
  }

  /** They have to be claimed again. */
  #giveBack(lane: Lane, returned: ReadonlySet<ClaimedEntry>): void {
    const entries = lane.waiting.filter((entry) => returned.has(entry));
    if (entries.length === 0) return;
    lane.waiting = lane.waiting.filter((entry) => !returned.has(entry));
    lane.hasBacklog = true;
    const releasing = this.#parts.release(entries).then(() => {
      this.#claiming.delete(releasing);
      this.noteBacklog(lane.key);
    });
    this.#claiming.add(releasing);
  }

  /** How many calls of an environment are in progress here. */
  callsOf(environmentId: EnvironmentId): number {
    let count = 0;
    for (const { entry } of this.#inWork.values()) if (entry.environmentId === environmentId) count++;
    return count;
  }

  /** All entries held here, in progress or waiting: their leases are renewed. */
  held(): ClaimedEntry[] {
    return [...[...this.#inWork.values()].map(({ entry }) => entry), ...[...this.#lanes.values()].flatMap(({ waiting }) => waiting)];
  }

  /**
   * Leases that were lost, or could not be renewed in time: calls in progress are aborted. Waiting entries are returned, with all that wait
   * in their lane, so that none overtakes them: those that no other node has are claimed again at once, in their order.
   */
  drop(lost: ReadonlySet<LeaseId>): void {
    for (const id of lost) this.#inWork.get(id)?.lease.abort();
    for (const lane of this.#lanes.values())
      if (lane.waiting.some(({ leaseId }) => lost.has(leaseId))) this.#giveBack(lane, new Set(lane.waiting));
  }

  /** Claims nothing more, and waits for work in progress, including claims, so that `held` is complete afterwards. */
  async stop(): Promise<void> {
    this.#stopped = true;
    for (const lane of this.#lanes.values()) this.#unblock(lane);
    while (this.#working.size + this.#claiming.size > 0) await Promise.all([...this.#working, ...this.#claiming]);
  }

  #lane(key: string): Lane {
    const known = this.#lanes.get(key);
    if (known) return known;
    const idle = { waiting: [], working: 0, hasBacklog: false, isClaiming: false, wasNoted: false, cancelPoll: null };
    const lane: Lane = { key, ...this.#rulesOf(key), ...idle };
    this.#lanes.set(key, lane);
    return lane;
  }

  #rulesOf(key: string): Pick<Lane, "limits" | "app"> {
    const { limits, app } = this.#parts.rulesOf(key);
    const calls = this.#apps.get(app.id) ?? { id: app.id, cap: app.cap, inUse: 0, blocked: new Set<Lane>(), lanes: 0 };
    calls.cap = app.cap;
    calls.lanes++;
    this.#apps.set(app.id, calls);
    return { limits, app: calls };
  }

  #move(lane: Lane): void {
    while (!this.#stopped && lane.waiting.length > 0) {
      if (lane.app.inUse >= lane.app.cap) {
        lane.app.blocked.add(lane);
        return;
      }
      const entry = lane.waiting[0] as ClaimedEntry;
      // Another node may hold it now.
      if (!holdsLease(entry, this.#parts.clock)) return this.#giveBack(lane, new Set(lane.waiting));
      lane.waiting.shift();
      this.#begin(lane, entry);
    }
    void this.#refill(lane);
  }

  #begin(lane: Lane, entry: ClaimedEntry): void {
    const { app } = lane;
    const lease = new AbortController();
    app.inUse++;
    lane.working++;
    this.#inWork.set(entry.leaseId, { entry, lease, limitIds: new Set(lane.limits.map(({ id }) => id)) });
    const working = this.#parts.work(entry, lease.signal).finally(() => {
      this.#working.delete(working);
      this.#inWork.delete(entry.leaseId);
      lane.working--;
      this.#release(app);
      this.#move(lane);
      this.#forget(lane);
    });
    this.#working.add(working);
  }

  /** One more call is possible: blocked lanes continue, the longest blocked first. */
  #release(app: AppCalls): void {
    app.inUse--;
    for (let left = app.blocked.size; left > 0 && app.inUse < app.cap; left--) {
      const [next] = app.blocked;
      if (!next) return;
      app.blocked.delete(next);
      this.#move(next);
    }
  }

  async #refill(lane: Lane): Promise<void> {
    if (!lane.hasBacklog || lane.isClaiming || lane.cancelPoll || this.#stopped) return;
    if (lane.waiting.length > this.#parts.prefetch * LOW_SHARE) return;
    const claiming = this.#claim(lane).finally(() => this.#claiming.delete(claiming));
    this.#claiming.add(claiming);
    await claiming;
  }

  async #claim(lane: Lane): Promise<void> {
    lane.isClaiming = true;
    lane.wasNoted = false;
    const wanted = Math.min(this.#parts.prefetch - lane.waiting.length, CLAIM_MAX);
    try {
      if (this.#takingSlots) await this.#takingSlots;
      const { limits } = lane;
      const { claimed, more, fullLimits } = await this.#parts.claim(lane.key, wanted, limits);
      lane.isClaiming = false;
      lane.hasBacklog = more || lane.wasNoted;
      lane.waiting.push(...claimed);
      lane.waiting.sort((a, b) => a.rank - b.rank);
      if (isLimitedSince(lane, limits)) this.#giveBack(lane, new Set(claimed));
      if (lane.hasBacklog && fullLimits.length > 0) this.#block(lane, fullLimits);
    } catch {
      // The store will recover; until then the lane keeps its backlog.
      this.#parts.clock.after(RETRY_MS, () => {
        lane.isClaiming = false;
        void this.#refill(lane);
      });
      return;
    }
    this.#move(lane);
    this.#forget(lane);
  }

  #block(lane: Lane, limitIds: readonly string[]): void {
    if (this.#stopped) return;
    const no = this.#parts.databaseOf(lane.key);
    this.#databaseNos.add(no);
    for (const id of limitIds.map((limitId) => countedIn(no, limitId))) this.#full.set(id, (this.#full.get(id) ?? new Set()).add(lane));
    const delayMs = this.#spread.delayMs(FULL_POLL_MS, ++this.#fullLanes);
    lane.cancelPoll = this.#parts.clock.after(delayMs, () => {
      this.#unblock(lane);
      void this.#refill(lane);
    });
  }

  #unblock(lane: Lane): void {
    if (!lane.cancelPoll) return;
    lane.cancelPoll();
    lane.cancelPoll = null;
    this.#fullLanes--;
    for (const [id, lanes] of this.#full) if (lanes.delete(lane) && lanes.size === 0) this.#full.delete(id);
  }

  /** One lane after the other, until the limit is full again: concurrent claims would conflict with each other. */
  async #claimInOrder(id: string): Promise<void> {
    if (this.#claimingInOrder.has(id)) return void this.#claimingInOrder.set(id, true);
    do {
      this.#claimingInOrder.set(id, false);
      for (const lane of [...(this.#full.get(id) ?? [])]) {
        this.#unblock(lane);
        await this.#refill(lane);
        if (this.#full.get(id)?.has(lane)) break;
      }
    } while (this.#claimingInOrder.get(id) && !this.#stopped);
    this.#claimingInOrder.delete(id);
  }

  #forget(lane: Lane): void {
    if (lane.working > 0 || lane.waiting.length > 0 || lane.hasBacklog || lane.isClaiming) return;
    if (!this.#lanes.delete(lane.key)) return;
    this.#dereference(lane.app);
  }

  #dereference(app: AppCalls): void {
    if (--app.lanes === 0) this.#apps.delete(app.id);
  }
}

/** A limit of the scope `account` has lanes in several databases. */
function countedIn(databaseNo: number, limitId: string): string {
  return `${databaseNo}:${limitId}`;
}

/** The lane has a limit that it did not have before. */
function isLimitedSince({ limits }: Pick<Lane, "limits">, before: readonly LimitRule[]): boolean {
  return limits.some(({ id }) => !before.some((known) => known.id === id));
}

/** After all entries of the same or a lower rank: nearly always at the end. */
function insertByRank(waiting: ClaimedEntry[], entry: ClaimedEntry): void {
  let index = waiting.length;
  while (index > 0 && (waiting[index - 1] as ClaimedEntry).rank > entry.rank) index--;
  waiting.splice(index, 0, entry);
}

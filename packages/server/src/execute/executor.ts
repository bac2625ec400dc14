/**
 * Runs functions: claims entries of the queue, calls the apps, and writes the results. Everything that must not be lost is stored
 * before it takes effect; memory is only a cache.
 *
 * On a store that nodes share, a lease expires unless it is renewed. A node that could not renew one in time, because it was paused or
 * disconnected, drops the entry and aborts its call: another node may have both.
 */

import type { EnvironmentId, EventIdGenerator, FunctionNo, LeaseId } from "@inlet/protocol";
import type { Logger } from "pino";
import {
  type ClaimedEntry,
  DIRECTORY_NO,
  LEASE_WITHOUT_END,
  type Lease,
  type RunChange,
  type RunRecord,
  type RunState,
  type Store,
  TIMER_LANE,
} from "../store/contract/index.ts";
import { DatabaseTimers } from "./queue/database-timers.ts";
import { type GateRule, Gates } from "./queue/gates.ts";
import { LeaseRenewals } from "./queue/lease-renewals.ts";
import { PoisonDetector } from "./queue/poison-detector.ts";
import { Resumptions } from "./queue/resumptions.ts";
import { type LaneRules, Scheduler } from "./queue/scheduler.ts";
import { createUntilWritten, type UntilWritten } from "./queue/until-written.ts";
import { RunAdvances, type RunAdvancesParts } from "./run-advances.ts";
import { RunCalls, type RunCallsParts } from "./run-calls.ts";
import { RunTimers } from "./run-timers.ts";

export interface ExecutorParts extends RunCallsParts, RunAdvancesParts {
  store: Store;
  rulesOf(lane: string): LaneRules;
  /** Null for a lane that is not a gate. */
  gateOf(lane: string): GateRule | null;
  /** Undefined if it is not known. */
  environmentOf(lane: string): EnvironmentId | undefined;
  /** How many entries of a lane are claimed ahead. */
  prefetch: number;
  /** On a store that nodes share, how long a lease lasts unless it is renewed. */
  leaseMs: number;
  leaseIds: EventIdGenerator;
  /** Processes entries that start functions instead of continuing runs. */
  starts: { work(entry: ClaimedEntry): Promise<ClaimedEntry[]> };
  log: Logger;
}

/** Delay of an entry that could not be processed; doubled each time. */
const FAULT_REST_MS = 1_000;
const FAULT_RESTS_MAX = 12;
/** Bounds the entries in memory that call no app. */
const TIMERS_IN_WORK_MAX = 1_000;
const QUARANTINED =
  "The run was ended, because the service crashed or failed each time it processed it: see the log of the service, then rerun it.";

export class Executor {
  readonly #parts: ExecutorParts;
  readonly #scheduler: Scheduler;
  readonly #timers: DatabaseTimers;
  readonly #runs: RunAdvances;
  readonly #runCalls: RunCalls;
  readonly #runTimers: RunTimers;
  readonly #poison: PoisonDetector;
  readonly #gates: Gates;
  readonly #resumptions: Resumptions;
  readonly #renewals: LeaseRenewals;
  readonly #untilWritten: UntilWritten;
  /** Timers in progress. Their leases are renewed like those of calls. */
  readonly #timersInWork = new Map<ClaimedEntry, Promise<void>>();
  #stopWatching: (() => void)[] = [];
  #isStopping = false;
  /** It stops, and the time for what was in progress is over. */
  #isCut = false;

  constructor(parts: ExecutorParts) {
    this.#parts = parts;
    const { store, rulesOf, limitedLane, gateOf, environmentOf, prefetch, leaseMs, clock } = parts;
    const lease = () => this.lease();
    const isStopping = () => this.#isStopping;
    const untilWritten = createUntilWritten(clock, () => this.#isCut);
    this.#untilWritten = untilWritten;
    this.#poison = new PoisonDetector({
      begin: (entry, phase) => untilWritten(() => store.queueProbeBegin({ ...entry, phase })),
      clear: (entry, phase) => store.queueProbeClear({ ...entry, phase }),
      clock,
    });
    this.#runs = new RunAdvances(parts, { lease, take: (entries) => this.take(entries), untilWritten });
    const release = (entries: readonly ClaimedEntry[]) => this.#release(entries);
    this.#runCalls = new RunCalls(parts, { runs: this.#runs, poison: this.#poison, untilWritten, release, isStopping });
    this.#runTimers = new RunTimers({ ...parts, runs: this.#runs, untilWritten });
    this.#gates = new Gates({ store, gateOf, clock });
    this.#scheduler = new Scheduler({
      work: (entry, signal) => this.#workSafely(entry, signal),
      claim: (lane, limit, limits) =>
        store.queueClaimMany({ environmentId: environmentOf(lane), lane, limit, limits, now: clock.now(), lease: lease() }),
      rulesOf,
      databaseOf(lane) {
        const environmentId = environmentOf(lane);
        return environmentId === undefined ? DIRECTORY_NO : store.storeDatabaseOf(environmentId);
      },
      release,
      limitsOf: (entry) => rulesOf(limitedLane(entry) ?? entry.lane).limits,
      takeSlots: (calls) => untilWritten(() => store.queueTakeSlots({ calls })).catch((error) => this.#noteUncounted(error)),
      prefetch,
      clock,
    });
    this.#resumptions = new Resumptions(parts);
    this.#timers = new DatabaseTimers({ store, clock, lease, work: (entries) => this.#workTimers(entries) });
    this.#renewals = new LeaseRenewals({
      store,
      leaseMs,
      held: () => [...this.#scheduler.held(), ...this.#timersInWork.keys()],
      drop: (leaseIds) => this.#scheduler.drop(leaseIds),
      clock,
    });
  }

  /** Entries leased with this are passed to `take` once they are committed. */
  lease(): Lease {
    const { store, clock, leaseIds } = this.#parts;
    return {
      node: store.storeNode,
      until: this.#leaseEnd(),
      newId: () => leaseIds.next(clock.now()) as string as LeaseId,
      roomIn: (lane) => this.#roomIn(lane),
    };
  }

  #leaseEnd(): number {
    return this.#parts.store.storeIsShared ? this.#parts.clock.now() + this.#parts.leaseMs : LEASE_WITHOUT_END;
  }

  #roomIn(lane: string): number {
    // Entries that call no app are processed as they arrive, as far as they do not pile up: others are claimed when these are done.
    if (lane === TIMER_LANE) return this.#isStopping ? 0 : Math.max(TIMERS_IN_WORK_MAX - this.#timersInWork.size, 0);
    return this.#gates.isGate(lane) ? 0 : this.#scheduler.roomIn(lane);
  }

  /** Entries leased just before a stop and committed after it are released again. */
  take(entries: readonly ClaimedEntry[]): void {
    if (this.#isStopping) return void this.#release(entries);
    this.#scheduler.take(entries.filter(({ kind }) => kind === "call"));
    const timers = entries.filter(({ kind }) => kind !== "call");
    if (timers.length > 0) void this.#workTimers(timers);
  }

  /** By environment, since when calls wait on this node. */
  waitingSince(): ReadonlyMap<EnvironmentId, number> {
    return this.#scheduler.waitingSince();
  }

  /** How many calls of an environment this node makes now. */
  callsOf(environmentId: EnvironmentId): number {
    return this.#scheduler.callsOf(environmentId);
  }

  /** The same by function. */
  functionsWaitingSince(): ReadonlyMap<FunctionNo, number> {
    return this.#scheduler.functionsWaitingSince();
  }

  /**
   * Entries that this node held when it died are due again. Nothing may be leased before this. On a shared store, each start has a node
   * name of its own, and leases expire instead.
   */
  async recover(): Promise<void> {
    if (this.#parts.store.storeIsShared) return;
    await this.#parts.store.queueRecover({ node: this.#parts.store.storeNode, now: this.#parts.clock.now() });
  }

  async start(): Promise<void> {
    const { store } = this.#parts;
    this.#stopWatching = [
      store.queueWatch((lane, dueAt, databaseNo) => {
        if (lane === TIMER_LANE) this.#timers.wakeBy(dueAt, databaseNo);
        else setImmediate(() => this.#noteBacklog(lane));
      }),
      store.limitWatch((ids) => {
        this.#gates.noteFreed(ids);
        this.#scheduler.noteFreed(ids);
      }),
    ];
    for (const lane of await store.queueLanes()) if (lane !== TIMER_LANE) this.#noteBacklog(lane);
    this.#timers.start();
    this.#resumptions.start();
    if (store.storeIsShared) this.#renewals.start();
  }

  /** The store has unleased calls of this lane. */
  #noteBacklog(lane: string): void {
    if (this.#isStopping) return;
    if (this.#gates.isGate(lane)) this.#gates.note(lane);
    else this.#scheduler.noteBacklog(lane);
  }

  /** Functions were registered, or a quota was set: limits may have changed. */
  refresh(): void {
    this.#gates.refresh();
    this.#scheduler.refreshRules();
  }

  #noteUncounted(error: unknown): void {
    this.#parts.log.warn({ err: error }, "calls in progress do not count for limits that were set since");
  }

  /**
   * Claims nothing more. Calls in progress may end within `timeoutMs`, and a store that is unavailable may come back to take what they
   * brought; otherwise they are repeated after the next start.
   */
  async stop(timeoutMs: number): Promise<void> {
    const { caller, clock } = this.#parts;
    this.#isStopping = true;
    for (const stopWatching of this.#stopWatching) stopWatching();
    this.#gates.stop();
    const cancelCut = clock.after(timeoutMs, () => {
      this.#isCut = true;
      void caller.stop();
    });
    await Promise.all([this.#scheduler.stop(), this.#resumptions.stop(), this.#timers.stop()]);
    await Promise.all(this.#timersInWork.values());
    this.#renewals.stop();
    await this.#releaseHeld();
    cancelCut();
    await caller.stop();
  }

  /** Calls that wait keep their order only if all of them can be claimed by the next node. */
  async #releaseHeld(): Promise<void> {
    const { store, clock } = this.#parts;
    const entries = this.#scheduler.held();
    if (entries.length > 0) await this.#untilWritten(() => store.queueRelease({ entries, now: clock.now() })).catch(() => undefined);
  }

  /** A stop is not a crash: unfinished entries can be claimed at once, by any node. */
  async #release(entries: readonly ClaimedEntry[]): Promise<void> {
    const { store, clock } = this.#parts;
    // If this cannot be written, the entries are due when their leases expire.
    if (entries.length > 0) await store.queueRelease({ entries, now: clock.now() }).catch(() => undefined);
  }

  /** A change of a run that is not caused by an entry: a cancellation, or a checkpoint. */
  change({ environmentId, no }: Pick<RunRecord, "environmentId" | "no">, decide: (state: RunState) => RunChange): Promise<boolean> {
    return this.#runs.advance({ environmentId, runNo: no, entry: null, decide });
  }

  async #workTimers(entries: readonly ClaimedEntry[]): Promise<void> {
    this.#scheduler.take(entries.filter(({ kind }) => kind === "call"));
    await Promise.all(entries.filter(({ kind }) => kind !== "call").map((entry) => this.#workTimer(entry)));
  }

  async #workTimer(entry: ClaimedEntry): Promise<void> {
    const working = this.#workSafely(entry, new AbortController().signal);
    this.#timersInWork.set(entry, working);
    await working;
    this.#timersInWork.delete(entry);
  }

  async #workSafely(entry: ClaimedEntry, signal: AbortSignal): Promise<void> {
    try {
      await this.#work(entry, signal);
    } catch (error) {
      if (signal.aborted) return;
      if (this.#isStopping) return this.#release([entry]);
      this.#parts.log.error({ err: error, entry }, "a queue entry could not be processed; it will be retried");
      await this.#putBack(entry);
    }
  }

  async #putBack(entry: ClaimedEntry): Promise<void> {
    const { store, clock, log } = this.#parts;
    const restMs = FAULT_REST_MS * 2 ** Math.min(entry.claims, FAULT_RESTS_MAX);
    const put = () => store.queueReschedule({ ...entry, dueAt: clock.now() + restMs });
    await this.#untilWritten(put).catch((error) =>
      log.error({ err: error, no: entry.no }, "a queue entry is suspended until the next start"),
    );
  }

  async #work(entry: ClaimedEntry, signal: AbortSignal): Promise<void> {
    const { runNo } = entry;
    if (runNo === null) return this.take(await this.#poison.guard(entry, "concluding", () => this.#parts.starts.work(entry)));
    if (this.#poison.isPoison(entry)) return this.#runs.fail(entry, runNo, QUARANTINED);
    if (entry.kind === "call") return this.#runCalls.work(entry, runNo, signal);
    await this.#poison.guard(entry, "concluding", () => this.#runTimers.work(entry, runNo));
  }
}

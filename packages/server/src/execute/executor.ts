/**
 * Runs functions: claims entries of the queue, calls the apps, and writes the results. Everything that must not be lost is stored
 * before it takes effect; memory is only a cache.
 *
 * On a store that nodes share, a lease expires unless it is renewed. A node that could not renew one in time, because it was paused or
 * disconnected, drops the entry and aborts its call: another node may have both.
 */

import type { EnvironmentId, EventIdGenerator, FunctionNo, LeaseId, RunNo } from "@inlet/protocol";
import type { Logger } from "pino";
import {
  type ClaimedEntry,
  LEASE_WITHOUT_END,
  type Lease,
  type RunAdvanceParams,
  type RunChange,
  type RunEnd,
  type RunRecord,
  type RunState,
  type StepRequest,
  type Store,
  StoreUnavailable,
  TIMER_LANE,
} from "../store/contract/index.ts";
import type { CallSpan, RunTracing } from "./call-tracing.ts";
import { sleepOn } from "./clock.ts";
import {
  type CallResult,
  type ExecutedFunction,
  type FunctionCall,
  type FunctionCallOutcome,
  FunctionCalls,
  type FunctionCallsParts,
} from "./function-calls.ts";
import { GatewayCalls } from "./gateway/gateway-calls.ts";
import { type GateRule, Gates } from "./queue/gates.ts";
import { PoisonDetector } from "./queue/poison-detector.ts";
import { Resumptions } from "./queue/resumptions.ts";
import { type LaneRules, Scheduler } from "./queue/scheduler.ts";
import { Timers } from "./queue/timers.ts";
import { failRun } from "./steps/run-changes.ts";
import { arrivedMeanwhile, timerChange } from "./steps/timer-change.ts";

export interface ExecutorParts extends FunctionCallsParts {
  store: Store;
  functionOf(no: FunctionNo): ExecutedFunction | undefined;
  rulesOf(lane: string): LaneRules;
  /** Null for a lane that is not a gate. */
  gateOf(lane: string): GateRule | null;
  /** How many entries of a lane are claimed ahead. */
  prefetch: number;
  /** On a store that nodes share, how long a lease lasts unless it is renewed. */
  leaseMs: number;
  leaseIds: EventIdGenerator;
  /** Processes entries that start functions instead of continuing runs. */
  starts: { work(entry: ClaimedEntry): Promise<ClaimedEntry[]> };
  /** Called when a run has ended and this is stored. */
  onEnd(run: RunRecord, end: RunEnd): void;
  /** Called when the first call of a run is made. */
  onStart(entry: ClaimedEntry): void;
  /** Called when a call was made and its result is stored. */
  onCall(entry: ClaimedEntry, result: CallResult): void;
  /** Null: traces are not exported. */
  tracing: RunTracing | null;
  log: Logger;
}

/** How often a lease is renewed while it lasts. */
const RENEWALS = 4;
/** Delay of an entry that could not be processed; doubled each time. */
const FAULT_REST_MS = 1_000;
const FAULT_RESTS_MAX = 12;
const STORE_RETRY_MS = [50, 200, 1_000, 5_000];
/** How long the timeout of a wait is put off while events received before it have yet to be matched with the wait. */
const PENDING_MATCH_MS = 100;
/** Bounds the entries in memory that call no app. */
const TIMERS_IN_WORK_MAX = 1_000;
const QUARANTINED = "It was quarantined: the service crashed or failed each time it processed this run.";

/** A call that was made. */
interface AskedCall {
  hasAnswer: boolean;
  endedAt: number;
  span: CallSpan | undefined;
  read(): FunctionCallOutcome;
}

export class Executor {
  readonly #parts: ExecutorParts;
  readonly #scheduler: Scheduler;
  readonly #timers: Timers;
  readonly #calls: FunctionCalls;
  readonly #gateway: GatewayCalls;
  readonly #poison: PoisonDetector;
  readonly #gates: Gates;
  readonly #resumptions: Resumptions;
  readonly #renewIntervalMs: number;
  /** Timers in progress. Their leases are renewed like those of calls. */
  readonly #timersInWork = new Map<ClaimedEntry, Promise<void>>();
  #stopRenewing: (() => void) | null = null;
  #stopWatching: (() => void)[] = [];
  #isStopping = false;

  constructor(parts: ExecutorParts) {
    this.#parts = parts;
    this.#renewIntervalMs = parts.leaseMs / RENEWALS;
    const { store, rulesOf, gateOf, prefetch, clock } = parts;
    this.#calls = new FunctionCalls(parts);
    this.#gateway = new GatewayCalls(parts);
    this.#gates = new Gates({ store, gateOf, clock });
    this.#scheduler = new Scheduler({
      work: (entry, signal) => this.#workSafely(entry, signal),
      claim: (lane, limit, limits) => store.queueClaimMany({ lane, limit, limits, now: clock.now(), lease: this.lease() }),
      rulesOf,
      prefetch,
      clock,
    });
    this.#poison = new PoisonDetector({
      begin: (entry, phase) => this.#untilWritten(() => store.queueProbeBegin({ ...entry, phase })),
      clear: (entry, phase) => store.queueProbeClear({ ...entry, phase }),
      clock,
    });
    this.#resumptions = new Resumptions(parts);
    this.#timers = new Timers({ store, clock, lease: () => this.lease(), work: (entries) => this.#workTimers(entries) });
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
      store.queueWatch((lane, dueAt) => {
        if (lane === TIMER_LANE) this.#timers.wakeBy(dueAt);
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
    if (store.storeIsShared) this.#renewLater();
  }

  /** The store has unleased calls of this lane. */
  #noteBacklog(lane: string): void {
    if (this.#isStopping) return;
    if (this.#gates.isGate(lane)) this.#gates.note(lane);
    else this.#scheduler.noteBacklog(lane);
  }

  /** Functions were registered: their limits may have changed. */
  refresh(): void {
    this.#gates.refresh();
    this.#scheduler.refreshRules();
  }

  /** Claims nothing more. Calls in progress may end within `timeoutMs`; otherwise they are repeated after the next start. */
  async stop(timeoutMs: number): Promise<void> {
    const { caller, clock } = this.#parts;
    this.#isStopping = true;
    for (const stopWatching of this.#stopWatching) stopWatching();
    this.#gates.stop();
    const cancelCut = clock.after(timeoutMs, () => void caller.stop());
    await Promise.all([this.#scheduler.stop(), this.#resumptions.stop(), this.#timers.stop()]);
    await Promise.all(this.#timersInWork.values());
    cancelCut();
    this.#stopRenewing?.();
    await this.#release(this.#scheduler.held());
    await caller.stop();
  }

  /** A stop is not a crash: unfinished entries can be claimed at once, by any node. */
  async #release(entries: readonly ClaimedEntry[]): Promise<void> {
    const { store, clock } = this.#parts;
    // If this cannot be written, the entries are due when their leases expire.
    if (entries.length > 0) await store.queueRelease({ entries, now: clock.now() }).catch(() => undefined);
  }

  /** A change of a run that is not caused by an entry: a cancellation, or a checkpoint. */
  change({ environmentId, no }: Pick<RunRecord, "environmentId" | "no">, decide: (state: RunState) => RunChange): Promise<boolean> {
    return this.#advance({ environmentId, runNo: no, entry: null, decide });
  }

  #renewLater(): void {
    this.#stopRenewing = this.#parts.clock.after(this.#renewIntervalMs, () => {
      void this.#renew().finally(() => !this.#isStopping && this.#renewLater());
    });
  }

  /** Drops leases that could not be renewed, or might expire before the next renewal. */
  async #renew(): Promise<void> {
    const { store, clock, leaseMs } = this.#parts;
    const held = [...this.#scheduler.held(), ...this.#timersInWork.keys()];
    const until = clock.now() + leaseMs;
    const renewed = await store.queueRenew({ entries: held, until }).catch(() => null);
    for (const entry of held) if (renewed?.has(entry.leaseId)) entry.leasedUntil = until;
    const isLost = ({ leaseId, leasedUntil }: ClaimedEntry) =>
      (renewed !== null && !renewed.has(leaseId)) || leasedUntil <= clock.now() + this.#renewIntervalMs;
    this.#scheduler.drop(new Set(held.filter(isLost).map(({ leaseId }) => leaseId)));
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
    if (this.#poison.isPoison(entry)) return this.#fail(entry, runNo, QUARANTINED);
    if (entry.kind === "call") return this.#call(entry, runNo, signal);
    await this.#poison.guard(entry, "concluding", () => this.#workRunTimer(entry, runNo));
  }

  async #workRunTimer(entry: ClaimedEntry, runNo: RunNo): Promise<void> {
    const { store, clock, endEvents } = this.#parts;
    const { environmentId, eventSequence, endedRunNo } = entry;
    if (await this.#isPending(entry, runNo)) {
      const dueAt = clock.now() + PENDING_MATCH_MS;
      return this.#untilWritten(() => store.queueReschedule({ ...entry, dueAt }));
    }
    const event = eventSequence === null ? null : await store.eventAt({ environmentId, sequence: eventSequence });
    const ended = endedRunNo === null ? null : await store.runEnd({ environmentId, runNo: endedRunNo });
    let arrived: number | null = null;
    const decide = (state: RunState): RunChange => {
      arrived = arrivedMeanwhile(entry, state);
      return arrived === null ? timerChange(entry, state, { event, ended, now: clock.now(), endEvents }) : { entry: "keep" };
    };
    const isApplied = await this.#advance({ environmentId, runNo, entry, decide });
    if (isApplied && arrived !== null) return this.#workRunTimer({ ...entry, eventSequence: arrived }, runNo);
    // The run ended at the moment the entry was added.
    if (!isApplied) await this.#untilWritten(() => store.queueRemove(entry));
  }

  /** An event that came in time resumes the run, although other waits are matched with it first. */
  async #isPending({ environmentId, kind, stepId, eventSequence, endedRunNo, outcome }: ClaimedEntry, runNo: RunNo): Promise<boolean> {
    const hasTimedOut = kind === "timeout" && eventSequence === null && endedRunNo === null && outcome === null;
    return hasTimedOut && stepId !== null && this.#parts.store.waitIsPending({ environmentId, runNo, stepId });
  }

  async #call(entry: ClaimedEntry, runNo: RunNo, signal: AbortSignal): Promise<void> {
    const { environmentId } = entry;
    const [context, request] = await Promise.all([
      this.#parts.store.runContext({ environmentId, runNo }),
      entry.stepId === null ? null : this.#parts.store.stepRequest({ environmentId, runNo, stepId: entry.stepId }),
    ]);
    // The run has ended. The entry was kept while another node called the app for it.
    if (!context) return this.#untilWritten(() => this.#parts.store.queueRemove(entry));
    const target = this.#parts.functionOf(entry.functionNo);
    if (!target || target.app.removedAt !== null) return this.#fail(entry, runNo, "Its app was removed.");
    if (target.isPaused) return this.#hold(entry);
    const isFirst = context.run.startedAt === null;
    if (isFirst) await this.#begin(entry, runNo, target);
    const call = await this.#poison.guard(entry, "calling", async () => {
      // It may have been paused while the start was stored: nothing is awaited between this and the call.
      if (this.#parts.functionOf(entry.functionNo)?.isPaused) return null;
      if (isFirst) this.#parts.onStart(entry);
      return this.#ask({ entry, context, target }, request, signal);
    });
    if (!call) return this.#hold(entry);
    if (signal.aborted || (this.#isStopping && !call.hasAnswer)) {
      call.span?.end(call.endedAt, "The call was given up.");
      return this.#release([entry]);
    }
    await this.#poison.guard(entry, "concluding", () => this.#conclude(entry, runNo, call));
  }

  #hold(entry: ClaimedEntry): Promise<void> {
    return this.#untilWritten(() => this.#parts.store.queueHold({ ...entry, now: this.#parts.clock.now() }));
  }

  /** Calls the app, or makes the request of a step, which needs no app. */
  async #ask(call: FunctionCall, request: StepRequest | null, signal: AbortSignal): Promise<AskedCall> {
    const span = this.#parts.tracing?.call(call.entry, call.context);
    if (request) {
      const asked = { ...call, ...request, retries: call.target.retries };
      const { hasAnswer, outcome } = await this.#gateway.ask(asked, signal);
      return { hasAnswer, endedAt: this.#parts.clock.now(), span, read: () => outcome };
    }
    const made = await this.#calls.ask({ ...call, traceparent: span?.traceparent }, signal);
    return { hasAnswer: made.hasAnswer, endedAt: made.endedAt, span, read: () => this.#calls.read(made) };
  }

  async #conclude(entry: ClaimedEntry, runNo: RunNo, call: AskedCall): Promise<void> {
    const { environmentId } = entry;
    const outcome = call.read();
    call.span?.end(call.endedAt, outcome.result === "ok" ? undefined : outcome.result);
    const isApplied = await this.#advance({ environmentId, runNo, entry, decide: outcome.decide }, call.span?.traceparent);
    this.#parts.onCall(entry, outcome.result);
    if (isApplied) return;
    // The run ended during the call: nothing changes, but the call is recorded, and its slots are free now.
    await this.#untilWritten(() => this.#parts.store.runNoteCall({ environmentId, runNo, ...outcome.late() }));
    await this.#untilWritten(() => this.#parts.store.queueRemove(entry));
  }

  async #fail(entry: ClaimedEntry, runNo: RunNo, message: string): Promise<void> {
    const { endEvents, clock } = this.#parts;
    const decide = (state: RunState) => failRun(state, { name: "RunAbandoned", message }, clock.now(), endEvents);
    const isApplied = await this.#advance({ environmentId: entry.environmentId, runNo, entry, decide });
    // The run ended while the entry was leased: such an entry belongs to its holder, and nobody else removes it.
    if (!isApplied) await this.#untilWritten(() => this.#parts.store.queueRemove(entry));
  }

  /** If a function limits when its runs start or how long they take, the start must be stored while the first call is in progress. */
  async #begin(entry: ClaimedEntry, runNo: RunNo, { timeouts: { startMs, finishMs } }: ExecutedFunction): Promise<void> {
    if (startMs === null && finishMs === null) return;
    const startedAt = this.#parts.clock.now();
    const entries = finishMs === null ? [] : [{ kind: "finish-by", stepId: null, dueAt: startedAt + finishMs } as const];
    const decide = () => ({ startedAt, entry: "keep", entries }) as const;
    await this.#advance({ environmentId: entry.environmentId, runNo, entry, decide });
  }

  /** A response that cannot be stored now is kept until it can: only a crash makes a step run again. Returns whether it was applied. */
  async #advance({ decide, ...params }: Omit<RunAdvanceParams, "now" | "lease">, callTrace?: string): Promise<boolean> {
    const { store, clock, functionOf, onEnd, tracing } = this.#parts;
    let ended: { run: RunRecord; end: RunEnd } | null = null;
    let traceSteps: (() => void) | null = null;
    const decideAndNote = (state: RunState): RunChange => {
      const change = { ...decide(state), decidedAt: clock.now() };
      ended = change.end ? { run: state.run, end: change.end } : null;
      const steps = tracing && change.steps?.filter(({ endedAt }) => endedAt !== null);
      if (steps?.length) {
        const trace = callTrace ?? state.events()[0]?.trace;
        traceSteps = () => tracing?.steps(state.run, steps, trace);
      }
      const holdsOrder = change.end?.status === "failed" && functionOf(state.run.functionNo)?.holdsOrder === true;
      return holdsOrder ? { ...change, holdsOrder } : change;
    };
    const { applied, leased } = await this.#untilWritten(() =>
      store.runAdvance({ ...params, decide: decideAndNote, now: clock.now(), lease: this.lease() }),
    );
    this.take(leased);
    if (applied) (traceSteps as (() => void) | null)?.();
    if (applied && ended) onEnd((ended as { run: RunRecord }).run, (ended as { end: RunEnd }).end);
    return applied;
  }

  async #untilWritten<Result>(write: () => Promise<Result>): Promise<Result> {
    for (let tries = 0; ; tries++) {
      try {
        return await write();
      } catch (error) {
        if (!(error instanceof StoreUnavailable) || this.#isStopping) throw error;
        await sleepOn(this.#parts.clock, STORE_RETRY_MS[Math.min(tries, STORE_RETRY_MS.length - 1)] as number);
      }
    }
  }
}

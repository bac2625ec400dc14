/**
 * Runs functions: takes entries of the queue, calls the apps, and writes what follows. Everything that must not be lost is in
 * the store before it counts; what is in memory only makes it fast.
 */

import type { EnvironmentId, FunctionNo, RunNo } from "@inlet/protocol";
import type { Logger } from "pino";
import {
  type ClaimedEntry,
  type Lease,
  type RunAdvanceParams,
  type RunAdvanceResult,
  type RunChange,
  type RunRecord,
  type RunState,
  type Store,
  StoreUnavailable,
  TIMER_LANE,
} from "../store/contract/index.ts";
import { type ExecutedFunction, FunctionCalls, type FunctionCallsParts } from "./function-calls.ts";
import { type GateRule, Gates } from "./queue/gates.ts";
import { LimitHolders } from "./queue/limit-holders.ts";
import { type LimitRule, Scheduler } from "./queue/scheduler.ts";
import { Suspects } from "./queue/suspects.ts";
import { Timers } from "./queue/timers.ts";
import { cancelRun, failRun, resolveStep } from "./steps/run-changes.ts";
import { timeoutValue } from "./steps/step-parameters.ts";

export interface ExecutorParts extends FunctionCallsParts {
  store: Store;
  functionOf(no: FunctionNo): ExecutedFunction | undefined;
  limitsOf(lane: string): readonly LimitRule[];
  /** Null for a lane that is no gate. */
  gateOf(lane: string): GateRule | null;
  /** Entries that start functions rather than go on with runs. */
  starts: { work(entry: ClaimedEntry): Promise<ClaimedEntry[]> };
  log: Logger;
}

const LEASE_MS = 30_000;
/** What is new is passed over once, so this is less than half of it. */
const RENEW_INTERVAL_MS = 8_000;
/** How long an entry rests that could not be worked on; twice as long each time. */
const FAULT_REST_MS = 1_000;
const FAULT_RESTS_MAX = 12;
const STORE_RETRY_MS = [50, 200, 1_000, 5_000];

const QUARANTINED = "It was quarantined: whenever it was worked on, the service stopped or failed.";

export class Executor {
  readonly #parts: ExecutorParts;
  readonly #scheduler: Scheduler;
  readonly #timers: Timers;
  readonly #calls: FunctionCalls;
  readonly #suspects: Suspects;
  /** Null when no other node could work on the same limits. */
  readonly #limits: LimitHolders | null;
  readonly #gates: Gates;
  /** Timers being worked on. Their leases are renewed like those of calls. */
  readonly #timersInWork = new Set<ClaimedEntry>();
  /** What was held when leases were renewed last. */
  #heldBefore = new Set<ClaimedEntry>();
  #renewal: NodeJS.Timeout | null = null;
  #stopWatching: (() => void) | null = null;
  #isStopping = false;

  constructor(parts: ExecutorParts) {
    this.#parts = parts;
    const { store, limitsOf, gateOf, now } = parts;
    this.#calls = new FunctionCalls(parts);
    this.#limits = store.storeIsShared ? this.#limitHolders() : null;
    this.#gates = new Gates({ store, gateOf, now });
    this.#scheduler = new Scheduler({
      work: (entry) => this.#workSafely(entry),
      claim: async (lane, limit) => {
        await this.#limits?.hold(lane);
        return store.queueClaimMany({ lane, limit, now: now(), lease: this.lease() });
      },
      limitsOf,
      holdsByPace: store.storeIsShared,
      onEmpty: (lane) => this.#limits?.noteEmpty(lane),
    });
    this.#suspects = new Suspects(({ environmentId, no }) =>
      this.#untilWritten(() => store.queueTry({ environmentId, no, node: store.storeNode })),
    );
    this.#timers = new Timers({ store, now, lease: () => this.lease(), work: (entries) => this.#workTimers(entries) });
  }

  /** What is committed with this lease is handed to `take`. */
  lease(): Lease {
    return {
      node: this.#parts.store.storeNode,
      until: this.#parts.now() + LEASE_MS,
      // What calls no app is worked on as it comes.
      roomIn: (lane) => (lane === TIMER_LANE ? (this.#isStopping ? 0 : Number.POSITIVE_INFINITY) : this.#roomIn(lane)),
    };
  }

  #roomIn(lane: string): number {
    if (this.#gates.isGate(lane) || this.#limits?.mayTake(lane) === false) return 0;
    return this.#scheduler.roomIn(lane);
  }

  /** How many calls one app is sent is each node's own affair; all other limits count across nodes. */
  #limitHolders(): LimitHolders {
    const { store, limitsOf, now } = this.#parts;
    const shared = (lane: string) => limitsOf(lane).flatMap(({ id }) => (id.startsWith("app:") ? [] : [id]));
    const isInUse = (lane: string) => this.#scheduler.has(lane);
    return new LimitHolders({ store, node: store.storeNode, limitsOf: shared, isInUse, now, leaseUntil: () => now() + LEASE_MS });
  }

  take(entries: readonly ClaimedEntry[]): void {
    this.#scheduler.take(entries.filter(({ kind }) => kind === "call"));
    const timers = entries.filter(({ kind }) => kind !== "call");
    if (timers.length > 0) void this.#workTimers(timers);
  }

  /** By environment, since when calls wait here for their turn. */
  waitingSince(): ReadonlyMap<EnvironmentId, number> {
    return this.#scheduler.waitingSince();
  }

  /** What this node held when it died is due again. Before this, nothing may be handed over. */
  async recover(): Promise<void> {
    await this.#parts.store.queueRecover({ node: this.#parts.store.storeNode, now: this.#parts.now() });
  }

  async start(): Promise<void> {
    const { store } = this.#parts;
    this.#stopWatching = store.queueWatch((lane, dueAt) => {
      if (lane === TIMER_LANE) this.#timers.wakeBy(dueAt);
      else setImmediate(() => this.#noteBacklog(lane));
    });
    for (const lane of await store.queueLanes()) if (lane !== TIMER_LANE) this.#noteBacklog(lane);
    this.#timers.start();
    this.#renewal = setInterval(() => void this.#renew(), RENEW_INTERVAL_MS);
  }

  /** The store holds calls of this lane that nobody has taken. */
  #noteBacklog(lane: string): void {
    if (this.#gates.isGate(lane)) this.#gates.note(lane);
    else this.#scheduler.noteBacklog(lane);
  }

  /** Functions were registered: their limits may be others now. */
  refresh(): void {
    this.#limits?.refresh();
    this.#gates.refresh();
    this.#scheduler.refreshLimits();
  }

  /** Takes up nothing more; calls under way may end within `timeoutMs`, and are else repeated after the next start. */
  async stop(timeoutMs: number): Promise<void> {
    this.#isStopping = true;
    this.#stopWatching?.();
    this.#gates.stop();
    if (this.#renewal) clearInterval(this.#renewal);
    await this.#timers.stop();
    const ended = this.#scheduler.stop();
    const cut = setTimeout(() => void this.#parts.caller.stop(), timeoutMs);
    await ended;
    clearTimeout(cut);
    await this.#letGo(this.#scheduler.held());
    await this.#limits?.stop();
    await this.#parts.caller.stop();
  }

  /** Stopping is no crash: what was not worked on to its end can be taken up at once, here or elsewhere. */
  async #letGo(entries: readonly ClaimedEntry[]): Promise<void> {
    const { store, now } = this.#parts;
    // If it cannot be written, the entries are due when their leases end.
    if (entries.length > 0) await store.queueRelease({ entries, node: this.#parts.store.storeNode, now: now() }).catch(() => undefined);
  }

  /** A change of a run that comes from elsewhere: a cancellation, results handed in early. */
  async change({ environmentId, no }: Pick<RunRecord, "environmentId" | "no">, decide: (state: RunState) => RunChange): Promise<boolean> {
    const { applied, handed } = await this.#advance({ environmentId, runNo: no, entryNo: null, decide });
    this.take(handed);
    return applied;
  }

  /** What was not here the last time has a lease for the next time too. Most of it will be gone by then. */
  async #renew(): Promise<void> {
    const { store, now } = this.#parts;
    await this.#limits?.renew();
    const held = [...this.#scheduler.held(), ...this.#timersInWork];
    const entries = held.filter((entry) => this.#heldBefore.has(entry));
    const others = held.filter((entry) => !this.#heldBefore.has(entry));
    this.#heldBefore = new Set(held);
    await store.queueRenew({ entries, others, node: store.storeNode, until: now() + LEASE_MS }).catch(() => {});
  }

  async #workTimers(entries: readonly ClaimedEntry[]): Promise<void> {
    this.#scheduler.take(entries.filter(({ kind }) => kind === "call"));
    await Promise.all(entries.filter(({ kind }) => kind !== "call").map((entry) => this.#workTimer(entry)));
  }

  async #workTimer(entry: ClaimedEntry): Promise<void> {
    this.#timersInWork.add(entry);
    await this.#workSafely(entry);
    this.#timersInWork.delete(entry);
  }

  async #workSafely(entry: ClaimedEntry): Promise<void> {
    try {
      if (this.#suspects.isSuspect(entry)) await this.#suspects.watch(entry, () => this.#work(entry));
      else await this.#work(entry);
    } catch (error) {
      if (this.#isStopping) return this.#letGo([entry]);
      this.#parts.log.error({ err: error, entry }, "an entry of the queue could not be worked on; it is tried again");
      await this.#putBack(entry);
    }
  }

  /** What this node holds is given to nobody else: it has to be let go of. */
  async #putBack({ environmentId, no, claims }: ClaimedEntry): Promise<void> {
    const { store, now, log } = this.#parts;
    const restMs = FAULT_REST_MS * 2 ** Math.min(claims, FAULT_RESTS_MAX);
    const put = () => store.queueReschedule({ environmentId, no, node: this.#parts.store.storeNode, dueAt: now() + restMs });
    await this.#untilWritten(put).catch((error) => log.error({ err: error, no }, "an entry of the queue rests until the next start"));
  }

  async #work(entry: ClaimedEntry): Promise<void> {
    const { environmentId, runNo } = entry;
    if (runNo === null) return this.take(await this.#parts.starts.work(entry));
    if (this.#suspects.isGuilty(entry)) return this.#fail(entry, runNo, QUARANTINED);
    if (entry.kind === "call") return this.#call(entry, runNo);
    const { handed } = await this.#advance({ environmentId, runNo, entryNo: entry.no, decide: (state) => this.#timerChange(entry, state) });
    this.take(handed);
  }

  #timerChange({ kind, stepId }: ClaimedEntry, state: RunState): RunChange {
    const { endEvents, now } = this.#parts;
    if (kind === "start-by") {
      if (state.run.startedAt !== null) return {};
      return cancelRun(state, now(), endEvents, "It did not start within the time its function allows.");
    }
    if (kind === "finish-by") return cancelRun(state, now(), endEvents, "It did not end within the time its function allows.");
    const step = state.steps.find(({ id }) => id === stepId);
    return step ? resolveStep(state, { id: step.id, ...timeoutValue(kind === "wake" ? "sleep" : step.kind) }, now()) : {};
  }

  async #call(entry: ClaimedEntry, runNo: RunNo): Promise<void> {
    const { environmentId } = entry;
    const context = await this.#parts.store.runContext({ environmentId, runNo });
    if (!context) return;
    const target = this.#parts.functionOf(entry.functionNo);
    if (!target || target.app.removedAt !== null) return this.#fail(entry, runNo, "Its app was removed.");
    if (context.run.startedAt === null) await this.#begin(entry, runNo, target);
    const { hasAnswer, decide, late } = await this.#calls.make({ entry, context, target });
    if (this.#isStopping && !hasAnswer) return this.#letGo([entry]);
    const { applied, handed } = await this.#advance({ environmentId, runNo, entryNo: entry.no, decide });
    this.take(handed);
    // The run was cancelled while the app worked: nothing follows, but the call is there to be seen.
    if (!applied) await this.#untilWritten(() => this.#parts.store.runNoteCall({ environmentId, runNo, ...late() }));
  }

  async #fail({ environmentId, no }: ClaimedEntry, runNo: RunNo, message: string): Promise<void> {
    const { endEvents, now } = this.#parts;
    const decide = (state: RunState) => failRun(state, { name: "RunAbandoned", message }, now(), endEvents);
    this.take((await this.#advance({ environmentId, runNo, entryNo: no, decide })).handed);
  }

  /** Where a function limits when its runs start or how long they take, that it began must be known while the first call goes on. */
  async #begin({ environmentId, no }: ClaimedEntry, runNo: RunNo, { timeouts: { startMs, finishMs } }: ExecutedFunction): Promise<void> {
    if (startMs === null && finishMs === null) return;
    const startedAt = this.#parts.now();
    const entries = finishMs === null ? [] : [{ kind: "finish-by", stepId: null, dueAt: startedAt + finishMs } as const];
    const decide = () => ({ startedAt, entry: "keep", entries }) as const;
    this.take((await this.#advance({ environmentId, runNo, entryNo: no, decide })).handed);
  }

  /** An answer that cannot be written now is kept until it can: only a crash makes a step run again. */
  #advance(params: Omit<RunAdvanceParams, "now" | "lease">): Promise<RunAdvanceResult> {
    return this.#untilWritten(() => this.#parts.store.runAdvance({ ...params, now: this.#parts.now(), lease: this.lease() }));
  }

  async #untilWritten<Result>(write: () => Promise<Result>): Promise<Result> {
    for (let tries = 0; ; tries++) {
      try {
        return await write();
      } catch (error) {
        if (!(error instanceof StoreUnavailable) || this.#isStopping) throw error;
        const delayMs = STORE_RETRY_MS[Math.min(tries, STORE_RETRY_MS.length - 1)];
        await new Promise((resolve) => setTimeout(resolve, delayMs));
      }
    }
  }
}

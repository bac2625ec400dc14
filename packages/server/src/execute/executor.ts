/**
 * Runs functions: takes entries of the queue, calls the apps, and writes what follows. Everything that must not be lost is in
 * the store before it counts; what is in memory only makes it fast.
 */

import type { EntryNo, FunctionNo, RunNo } from "@inlet/protocol";
import type { Logger } from "pino";
import {
  type App,
  type ClaimedEntry,
  type Lease,
  type RunAdvanceParams,
  type RunAdvanceResult,
  type RunChange,
  type RunContext,
  type RunState,
  type Store,
  StoreUnavailable,
  TIMER_LANE,
} from "../store/contract/index.ts";
import { type AppCaller, NoAnswer } from "./call/call-app.ts";
import { type CallTarget, functionRequest, type SigningKey } from "./call/function-request.ts";
import { failed, type ReadAnswer, readAnswer } from "./call/read-answer.ts";
import type { Backoff } from "./queue/backoff.ts";
import { type LimitRule, Scheduler } from "./queue/scheduler.ts";
import { Timers } from "./queue/timers.ts";
import { type CallFacts, decideAnswer } from "./steps/decide-answer.ts";
import { cancelRun, type EndEvents, failRun, resolveStep } from "./steps/run-changes.ts";
import { timeoutValue } from "./steps/step-parameters.ts";

export interface ExecutedFunction extends CallTarget {
  app: App;
  retries: number;
  finishMs: number | null;
}

export interface ExecutorParts {
  store: Store;
  caller: AppCaller;
  functionOf(no: FunctionNo): ExecutedFunction | undefined;
  limitsOf(lane: string): readonly LimitRule[];
  signingKey(): SigningKey | null;
  backoff: Backoff;
  endEvents: EndEvents;
  /** Reads the parameters of steps. */
  steps: {
    sleepUntil(operation: Parameters<CallFacts["sleepUntil"]>[0], now: number): number | string;
    wait(operation: Parameters<CallFacts["wait"]>[0], state: RunState, now: number, since: number): ReturnType<CallFacts["wait"]>;
    invoke(operation: Parameters<CallFacts["invoke"]>[0], state: RunState, now: number): ReturnType<CallFacts["invoke"]>;
  };
  /** Entries that start functions rather than go on with runs. */
  starts: { work(entry: ClaimedEntry): Promise<ClaimedEntry[]> };
  log: Logger;
  now(): number;
}

const LEASE_MS = 30_000;
const RENEW_INTERVAL_MS = 10_000;
/** An entry taken up this often without an outcome takes its node down each time. */
const CLAIMS_MAX = 10;
const STORE_RETRY_MS = [50, 200, 1_000, 5_000];

export class Executor {
  readonly #parts: ExecutorParts;
  readonly #scheduler: Scheduler;
  readonly #timers: Timers;
  #renewal: NodeJS.Timeout | null = null;
  #stopWatching: (() => void) | null = null;
  #isStopping = false;

  constructor(parts: ExecutorParts) {
    this.#parts = parts;
    const { store, limitsOf, now } = parts;
    this.#scheduler = new Scheduler({
      work: (entry) => this.#workSafely(entry),
      claim: (lane, limit) => store.queueClaimMany({ lane, limit, now: now(), lease: this.lease() }),
      limitsOf,
    });
    this.#timers = new Timers({ store, now, lease: () => this.lease(), work: (entries) => this.#workTimers(entries) });
  }

  /** What is committed with this lease is handed to `take`. */
  lease(): Lease {
    return {
      node: this.#parts.store.storeNode,
      until: this.#parts.now() + LEASE_MS,
      // What calls no app is worked on as it comes.
      roomIn: (lane) => (lane === TIMER_LANE ? (this.#isStopping ? 0 : Number.POSITIVE_INFINITY) : this.#scheduler.roomIn(lane)),
    };
  }

  take(entries: readonly ClaimedEntry[]): void {
    this.#scheduler.take(entries.filter(({ kind }) => kind === "call"));
    const timers = entries.filter(({ kind }) => kind !== "call");
    if (timers.length > 0) void this.#workTimers(timers);
  }

  /** What this node held when it died is due again. Before this, nothing may be handed over. */
  async recover(): Promise<void> {
    await this.#parts.store.queueRecover({ node: this.#parts.store.storeNode, now: this.#parts.now() });
  }

  async start(): Promise<void> {
    const { store } = this.#parts;
    this.#stopWatching = store.queueWatch((lane, dueAt) => {
      if (lane === TIMER_LANE) this.#timers.wakeBy(dueAt);
      else setImmediate(() => this.#scheduler.noteBacklog(lane));
    });
    for (const lane of await store.queueLanes()) if (lane !== TIMER_LANE) this.#scheduler.noteBacklog(lane);
    this.#timers.start();
    this.#renewal = setInterval(() => void this.#renew(), RENEW_INTERVAL_MS);
  }

  /** Functions were registered: their limits may be others now. */
  refresh(): void {
    this.#scheduler.refreshLimits();
  }

  /** Takes up nothing more; calls under way may end within `timeoutMs`, and are else repeated after the next start. */
  async stop(timeoutMs: number): Promise<void> {
    this.#isStopping = true;
    this.#stopWatching?.();
    if (this.#renewal) clearInterval(this.#renewal);
    await this.#timers.stop();
    const ended = this.#scheduler.stop();
    const cut = setTimeout(() => void this.#parts.caller.stop(), timeoutMs);
    await ended;
    clearTimeout(cut);
    await this.#parts.caller.stop();
  }

  /** A change of a run that comes from elsewhere: a cancellation, results handed in early. */
  async change(runNo: RunNo, decide: (state: RunState) => RunChange): Promise<boolean> {
    const { applied, handed } = await this.#advance({ runNo, entryNo: null, decide });
    this.take(handed);
    return applied;
  }

  async #renew(): Promise<void> {
    const entryNos = this.#scheduler.held().map(({ no }) => no);
    if (entryNos.length === 0) return;
    await this.#parts.store.queueRenew({ entryNos, until: this.#parts.now() + LEASE_MS }).catch(() => {});
  }

  async #workTimers(entries: readonly ClaimedEntry[]): Promise<void> {
    this.#scheduler.take(entries.filter(({ kind }) => kind === "call"));
    await Promise.all(entries.filter(({ kind }) => kind !== "call").map((entry) => this.#workSafely(entry)));
  }

  async #workSafely(entry: ClaimedEntry): Promise<void> {
    try {
      await this.#work(entry);
    } catch (error) {
      if (this.#isStopping) return;
      this.#parts.log.error({ error, entry }, "an entry of the queue could not be worked on; it is taken up again after the next start");
    }
  }

  async #work(entry: ClaimedEntry): Promise<void> {
    const { runNo } = entry;
    if (runNo === null) return this.take(await this.#parts.starts.work(entry));
    if (entry.kind === "call") return this.#call(entry, runNo);
    const { handed } = await this.#advance({ runNo, entryNo: entry.no, decide: (state) => this.#timerChange(entry, state) });
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
    const context = await this.#parts.store.runContext({ runNo });
    if (!context) return;
    const target = this.#parts.functionOf(entry.functionNo);
    const refused = this.#refusal(entry, target);
    if (refused || !target) return this.#fail(entry.no, runNo, refused ?? "");
    if (target.finishMs !== null && context.run.startedAt === null) await this.#begin(entry, runNo, target.finishMs);
    const startedAt = this.#parts.now();
    const read = await this.#ask(entry, context, target);
    if (this.#isStopping && read.answer.kind === "failed" && read.answer.httpStatus === null) return;
    const decide = (state: RunState) => decideAnswer(state, read.answer, this.#facts(entry, context, target, startedAt, read));
    const { handed } = await this.#advance({ runNo, entryNo: entry.no, decide });
    this.take(handed);
  }

  #refusal({ claims }: ClaimedEntry, target: ExecutedFunction | undefined): string | null {
    if (!target || target.app.removedAt !== null) return "Its app was removed.";
    if (claims > CLAIMS_MAX) return `It was quarantined: it was taken up ${CLAIMS_MAX} times, and the service stopped each time.`;
    return null;
  }

  async #fail(entryNo: EntryNo, runNo: RunNo, message: string): Promise<void> {
    const { endEvents, now } = this.#parts;
    const decide = (state: RunState) => failRun(state, { name: "RunAbandoned", message }, now(), endEvents);
    this.take((await this.#advance({ runNo, entryNo, decide })).handed);
  }

  /** The time a run may take counts from its first call. */
  async #begin({ no }: ClaimedEntry, runNo: RunNo, finishMs: number): Promise<void> {
    const startedAt = this.#parts.now();
    const entries = [{ kind: "finish-by", stepId: null, dueAt: startedAt + finishMs } as const];
    await this.#advance({ runNo, entryNo: no, decide: () => ({ startedAt, entry: "keep", entries }) });
  }

  async #ask(entry: ClaimedEntry, context: RunContext, target: ExecutedFunction): Promise<ReadAnswer> {
    const { caller, signingKey, now } = this.#parts;
    try {
      const received = await caller.call(functionRequest({ entry, context, target, signingKey: signingKey(), now: now() }));
      return readAnswer(target.app.headers, received, now());
    } catch (error) {
      if (!(error instanceof NoAnswer)) throw error;
      return { answer: failed("NoAnswer", error.message, null, true), requestVersion: null };
    }
  }

  #facts(entry: ClaimedEntry, { run }: RunContext, { retries }: ExecutedFunction, startedAt: number, read: ReadAnswer): CallFacts {
    const { backoff, endEvents, steps } = this.#parts;
    const now = this.#parts.now();
    return {
      entry,
      startedAt,
      now,
      requestVersion: read.requestVersion ?? run.requestVersion,
      retries,
      retryAt: (attempt, retryAfterMs) => backoff.retryAt(now, attempt, retryAfterMs),
      endEvents,
      sleepUntil: (operation) => steps.sleepUntil(operation, now),
      wait: (operation, state) => steps.wait(operation, state, now, startedAt),
      invoke: (operation, state) => steps.invoke(operation, state, now),
    };
  }

  /** An answer that cannot be written now is kept until it can: only a crash makes a step run again. */
  async #advance(params: Pick<RunAdvanceParams, "runNo" | "entryNo" | "decide">): Promise<RunAdvanceResult> {
    for (let tries = 0; ; tries++) {
      try {
        return await this.#parts.store.runAdvance({ ...params, now: this.#parts.now(), lease: this.lease() });
      } catch (error) {
        if (!(error instanceof StoreUnavailable) || this.#isStopping) throw error;
        const delayMs = STORE_RETRY_MS[Math.min(tries, STORE_RETRY_MS.length - 1)];
        await new Promise((resolve) => setTimeout(resolve, delayMs));
      }
    }
  }
}

/**
 * One call of the service: runs the function's code from its beginning, gives it the results of completed steps, and
 * stops at the first steps that are not completed.
 *
 *   code requests a step ─┬─ result stored ────────► returned, in the order of completion; the code continues
 *                         └─ new ─► (code has gone as far as it can)
 *                                     ├─ the one step this call is for ─► run it, respond StepRun / StepError
 *                                     ├─ a single step, may run at once ─► the same
 *                                     └─ else ─► respond with operations: StepPlanned, Sleep, WaitForEvent, …
 *   code returns or throws ─► respond with that
 *
 * Running a step ends the call. The protocol also allows an SDK to send a checkpoint and continue in the same call; with our
 * service that is slower and costs the app more CPU time, so it is not done.
 */

import { inRunContext, type RunContext } from "../client/run-context.ts";
import { NonRetriableError, StepError } from "../errors.ts";
import type { Deferred } from "../functions/defer.ts";
import { hashStepId } from "../wire/sha1.ts";
import { type DeferOperation, type Memo, readMemo, type StepMemos, type StepOperation } from "../wire/step-operations.ts";
import { type DeferRequest, DeferredCalls } from "./deferred-calls.ts";
import { type FoundStep, plannedOperation, type StepRequest } from "./found-step.ts";
import { ReplayOrder } from "./replay-order.ts";
import { refuseNested, runStep, type StepCall, type StepOutcome } from "./run-step.ts";
import { afterTurn } from "./settle-turn.ts";
import { settleableStep } from "./step-promise.ts";

/** How long the code may take to reach the step of this call once it requests others. */
const STEP_SEARCH_MS = 10_000;

export interface Call extends StepCall {
  memos: StepMemos;
  /** Hashed ids of completed steps in the order in which they ended. */
  stack: readonly string[];
  /** The planned step that this call runs, or null for a discovery. */
  requestedStep: string | null;
  /** Whether a single new step may be run in this call. */
  mayRunAtOnce: boolean;
}

/** `deferred` is included, however the call ends. */
export type Outcome = CallEnd & { deferred: readonly DeferOperation[] };

type CallEnd =
  | { kind: "returned"; data: unknown }
  | { kind: "threw"; error: unknown }
  | { kind: "planned"; operations: StepOperation[] }
  | { kind: "ran"; step: StepOutcome }
  | { kind: "step-missing"; requested: string; found: string[] };

/** The interface through which the function's code requests steps. */
export interface Execution {
  find: (request: StepRequest) => Promise<unknown>;
  /** False while results of earlier calls are still being returned. */
  isNew: () => boolean;
  defer: (request: DeferRequest) => Deferred;
}

export function executeCall(call: Call, code: (execution: Execution) => unknown): Promise<Outcome> {
  return new Promise((resolve) => new CallExecution(call, resolve).start(code));
}

class CallExecution implements Execution {
  readonly #call: Call;
  readonly #end: (outcome: CallEnd) => void;
  readonly #deferred = new DeferredCalls();
  readonly #replay: ReplayOrder<FoundStep & { memo: Memo }>;
  readonly #used = new Set<string>();
  readonly #nextIndex = new Map<string, number>();
  readonly #begun: FoundStep[] = [];
  #fresh: FoundStep[] = [];
  #isScheduled = false;
  #isOver = false;
  #isRunning = false;
  /** How the code ended while a step ran. */
  #ended: CallEnd | undefined;
  #searchTimer: ReturnType<typeof setTimeout> | undefined;

  constructor(call: Call, resolve: (outcome: Outcome) => void) {
    this.#call = call;
    const kept = Object.keys(call.memos).filter((hash) => readMemo(call.memos[hash]).kind !== "input");
    this.#replay = new ReplayOrder(
      call.stack.filter((hash) => Object.hasOwn(call.memos, hash)),
      kept,
    );
    this.#end = (outcome) => {
      if (this.#isOver) return;
      this.#isOver = true;
      clearTimeout(this.#searchTimer);
      resolve({ ...outcome, deferred: this.#deferred.operations() });
    };
  }

  start(code: (execution: Execution) => unknown): void {
    const { runId, sessions, capture } = this.#call;
    const context: RunContext = { runId, sessions, capture };
    inRunContext(context, async () => code(this)).then(
      (data) => this.#settle(this.#neverAwaited() ?? { kind: "returned", data }),
      (error: unknown) => this.#settle({ kind: "threw", error }),
    );
  }

  /** Whether such a step runs at all depends on what else the code awaits: it fails the attempt, so that it cannot go unnoticed. */
  #neverAwaited(): CallEnd | undefined {
    const step = this.#begun.find(({ promise }) => !promise.isAwaited);
    if (!step) return undefined;
    return { kind: "threw", error: new Error(`Step "${step.id}" was begun and never awaited. Write "await" before it`) };
  }

  /** The code has ended. In a call for one step that is an error: the step should have been reached. */
  #settle(outcome: CallEnd): void {
    if (this.#isRunning) {
      this.#ended ??= outcome;
      return;
    }
    if (!this.#isSearching()) this.#end(outcome);
    else if (!this.#wanted()) this.#end(this.#stepMissing());
  }

  readonly isNew = (): boolean => !this.#replay.isReplaying || this.#fresh.length > 0;

  readonly defer = (request: DeferRequest): Deferred => this.#deferred.add({ ...request, id: this.#uniqueId(request.id).id });

  readonly find = (request: StepRequest): Promise<unknown> => {
    refuseNested(request.id);
    const step = this.#newStep(request);
    const value = this.#call.memos[step.hash];
    const memo = Object.hasOwn(this.#call.memos, step.hash) ? readMemo(value) : undefined;
    if (!memo || memo.kind === "input") {
      if (memo) step.input = memo.input;
      this.#begin(step);
    } else if (!this.#isScheduled && this.#replay.isSimplyNext({ ...step, memo })) {
      this.#settleStep(step, memo);
    } else {
      this.#replay.add({ ...step, memo });
      this.#schedule();
    }
    return step.promise;
  };

  #newStep(request: StepRequest): FoundStep {
    const { id, index } = this.#uniqueId(request.id);
    const step = { ...request, ...settleableStep(), hash: hashStepId(id), index };
    this.#begun.push(step);
    return step;
  }

  /** A step without a result. One whose arguments are refused is rejected in the code, and never planned. */
  #begin(step: FoundStep): void {
    const plan = () => {
      this.#fresh.push(step);
      this.#schedule();
    };
    if (!step.check) plan();
    else this.#afterCheck(step, step.check, plan);
  }

  #afterCheck(step: FoundStep, check: () => void | Promise<void>, plan: () => void): void {
    const refuse = (error: unknown) => {
      step.promise.ignoreRejection();
      step.reject(error);
    };
    try {
      const checked = check();
      if (checked) checked.then(plan, refuse);
      else plan();
    } catch (error) {
      refuse(error);
    }
  }

  /** `id`, then `id:1`, `id:2`, …, skipping names that the code itself uses. */
  #uniqueId(id: string): { id: string; index: number } {
    if (typeof id !== "string" || !id) throw new NonRetriableError("A step needs an id: a text that names it within the function");
    let index = this.#nextIndex.get(id) ?? 0;
    let unique = index === 0 ? id : `${id}:${index}`;
    while (this.#used.has(unique)) unique = `${id}:${++index}`;
    this.#used.add(unique);
    this.#nextIndex.set(id, index + 1);
    return { id: unique, index };
  }

  #schedule(): void {
    if (this.#isScheduled || this.#isOver) return;
    this.#isScheduled = true;
    afterTurn(() => {
      this.#isScheduled = false;
      if (!this.#isOver) this.#advance();
    });
  }

  /** The code has gone as far as it can without further results. */
  #advance(): void {
    const wanted = this.#wanted();
    // Before further results are returned: with them the code might end without the step.
    const next = wanted ? undefined : this.#replay.take();
    if (wanted) void this.#run(wanted);
    else if (next) {
      this.#settleStep(next, next.memo);
      this.#schedule();
    } else if (this.#fresh.length > 0) this.#actOnNewSteps();
  }

  #settleStep(step: FoundStep, memo: Memo): void {
    this.#replay.handedOut();
    if (memo.kind === "error" || step.revive) step.promise.ignoreRejection();
    if (memo.kind === "error") step.reject(new StepError(step.id, memo.error));
    else if (memo.kind === "data") this.#resolve(step, memo.data);
  }

  /** A result that cannot be converted fails the step: nothing would catch the error here. */
  #resolve(step: FoundStep, data: unknown): void {
    try {
      step.resolve(step.revive ? step.revive(data) : data);
    } catch (error) {
      step.reject(error);
    }
  }

  #actOnNewSteps(): void {
    const only = this.#only();
    if (only) void this.#run(only);
    else if (this.#isSearching()) this.#searchTimer ??= setTimeout(() => this.#end(this.#stepMissing()), STEP_SEARCH_MS);
    else this.#end({ kind: "planned", operations: this.#fresh.map(plannedOperation) });
  }

  /** The step of this call, once the code has requested it. */
  #wanted(): FoundStep | undefined {
    return this.#isSearching() ? this.#fresh.find(({ hash }) => hash === this.#call.requestedStep) : undefined;
  }

  /** A single new step that may run in this call. */
  #only(): FoundStep | undefined {
    const [first] = this.#fresh;
    const may = this.#call.mayRunAtOnce && this.#call.requestedStep === null;
    return may && this.#fresh.length === 1 && first?.op === "StepRun" ? first : undefined;
  }

  /**
   * Nothing else happens while a step runs: `isScheduled` blocks everything. If the code ends meanwhile, the result of the step counts, which
   * would be lost otherwise: the next call has it. A step that failed has none: in a discovery, the end of the code counts.
   */
  async #run(step: FoundStep): Promise<void> {
    this.#isScheduled = true;
    this.#isRunning = true;
    const ran = await runStep(step, this.#call);
    const ended = ran.retry && this.#call.requestedStep === null ? this.#ended : undefined;
    this.#end(ended ?? { kind: "ran", step: ran });
  }

  /** Whether an earlier call has not completed the step of this call. */
  #isSearching(): boolean {
    const { requestedStep, memos } = this.#call;
    return requestedStep !== null && (!Object.hasOwn(memos, requestedStep) || readMemo(memos[requestedStep]).kind === "input");
  }

  #stepMissing(): CallEnd {
    return { kind: "step-missing", requested: this.#call.requestedStep ?? "", found: this.#fresh.map(({ id }) => id) };
  }
}

/** Entries of runs that call something: the app, or the address that a step of the run asks for. */

import type { RunNo } from "@inlet/protocol";
import type { ClaimedEntry, StepRequest, Store } from "../store/contract/index.ts";
import type { CallSpan, RunTracing } from "./call-tracing.ts";
import {
  type CallResult,
  type ExecutedFunction,
  type FunctionCall,
  type FunctionCallOutcome,
  FunctionCalls,
  type FunctionCallsParts,
  type FunctionOf,
} from "./function-calls.ts";
import { GatewayCalls } from "./gateway/gateway-calls.ts";
import { holdsLease } from "./queue/holds-lease.ts";
import type { PoisonDetector } from "./queue/poison-detector.ts";
import type { UntilWritten } from "./queue/until-written.ts";
import type { RunAdvances } from "./run-advances.ts";

export interface RunCallsParts extends FunctionCallsParts {
  store: Pick<Store, "runContext" | "stepRequest" | "runNoteCall" | "queueHold" | "queueMove" | "queueRemove">;
  /** The lane in which a call has to wait since its function was limited; null: it is in the right one. */
  limitedLane(entry: ClaimedEntry): string | null;
  functionOf: FunctionOf;
  /** Reads again what `functionOf` knows. */
  refreshFunctions(): Promise<void>;
  /** Called when a call was made and its result is stored. */
  onCall(entry: ClaimedEntry, result: CallResult): void;
  /** Null: traces are not exported. */
  tracing: RunTracing | null;
}

/** The node that makes the calls. */
export interface CallingNode {
  runs: RunAdvances;
  poison: PoisonDetector;
  untilWritten: UntilWritten;
  release(entries: readonly ClaimedEntry[]): Promise<void>;
  isStopping(): boolean;
}

/** A call that was made. */
interface AskedCall {
  hasResponse: boolean;
  endedAt: number;
  span: CallSpan | undefined;
  read(): FunctionCallOutcome;
}

export class RunCalls {
  readonly #parts: RunCallsParts;
  readonly #node: CallingNode;
  readonly #calls: FunctionCalls;
  readonly #gateway: GatewayCalls;

  constructor(parts: RunCallsParts, node: CallingNode) {
    this.#parts = parts;
    this.#node = node;
    this.#calls = new FunctionCalls(parts);
    this.#gateway = new GatewayCalls(parts);
  }

  async work(entry: ClaimedEntry, runNo: RunNo, signal: AbortSignal): Promise<void> {
    const { store, functionOf, refreshFunctions, limitedLane } = this.#parts;
    const { runs, poison, untilWritten, release, isStopping } = this.#node;
    const { environmentId, stepId } = entry;
    const [context, request] = await Promise.all([
      store.runContext({ environmentId, runNo }),
      stepId === null ? null : store.stepRequest({ environmentId, runNo, stepId }),
    ]);
    // The run has ended. The entry was kept while another node called the app for it.
    if (!context) return untilWritten(() => store.queueRemove(entry));
    const target = functionOf(entry.functionNo);
    if (!target || isGone(target)) {
      // Another node may have registered it before this one has read of it: then it was claimed without its limits.
      await refreshFunctions();
      return isGone(functionOf(entry.functionNo)) ? runs.fail(entry, runNo, "Its app was removed.") : release([entry]);
    }
    if (target.isPaused || limitedLane(entry) !== null) return this.#setAside(entry, runNo);
    const isBegun = context.run.startedAt !== null || (await this.#begin(entry, runNo, target));
    // The run was cancelled meanwhile, or another node has the entry now.
    if (!isBegun) return untilWritten(() => store.queueRemove(entry));
    const call = await poison.guard(entry, "calling", async () => {
      // It may have been paused or limited while the start was stored: nothing is awaited between this and the call.
      if (functionOf(entry.functionNo)?.isPaused || limitedLane(entry) !== null) return null;
      return this.#ask({ entry, context, target }, request, signal);
    });
    if (!call) return this.#setAside(entry, runNo);
    // Without a response, it may not have been sent: the lease may have expired before.
    if (signal.aborted || (!call.hasResponse && (isStopping() || !holdsLease(entry, this.#parts.clock)))) {
      call.span?.end(call.endedAt, "The call was given up.");
      return release([entry]);
    }
    await poison.guard(entry, "concluding", () => this.#conclude(entry, runNo, call));
  }

  /** It waits for a slot of a limit, or until its function resumes. */
  #setAside(entry: ClaimedEntry, runNo: RunNo): Promise<void> {
    const { store, limitedLane, clock } = this.#parts;
    const now = clock.now();
    const lane = limitedLane(entry);
    return this.#node.untilWritten(() =>
      lane === null ? store.queueHold({ ...entry, runNo, now }) : store.queueMove({ ...entry, runNo, lane, now }),
    );
  }

  /**
   * If a function limits when its runs start or how long they take, the start must be stored while the first call is in progress. False if the run
   * must not start any more.
   */
  async #begin(entry: ClaimedEntry, runNo: RunNo, { timeouts: { startMs, finishMs } }: ExecutedFunction): Promise<boolean> {
    if (startMs === null && finishMs === null) return true;
    const startedAt = this.#parts.clock.now();
    const entries = finishMs === null ? [] : [{ kind: "finish-by", stepId: null, dueAt: startedAt + finishMs } as const];
    const decide = () => ({ startedAt, entry: "keep", entries }) as const;
    return this.#node.runs.advance({ environmentId: entry.environmentId, runNo, entry, decide });
  }

  /** Calls the app, or makes the request of a step, which needs no app. */
  async #ask(call: FunctionCall, request: StepRequest | null, signal: AbortSignal): Promise<AskedCall> {
    const span = this.#parts.tracing?.call(call.entry, call.context);
    if (request) {
      const asked = { ...call, ...request, retries: call.target.retries };
      const { hasResponse, outcome } = await this.#gateway.ask(asked, signal);
      return { hasResponse, endedAt: this.#parts.clock.now(), span, read: () => outcome };
    }
    const made = await this.#calls.ask({ ...call, traceparent: span?.traceparent }, signal);
    return { hasResponse: made.hasResponse, endedAt: made.endedAt, span, read: () => this.#calls.read(made) };
  }

  async #conclude(entry: ClaimedEntry, runNo: RunNo, call: AskedCall): Promise<void> {
    const { store, onCall, refreshFunctions } = this.#parts;
    const { runs, untilWritten } = this.#node;
    const { environmentId } = entry;
    const outcome = call.read();
    // Another node may have registered it before this one has read of it.
    if (outcome.invokesUnknown) await untilWritten(refreshFunctions);
    call.span?.end(call.endedAt, outcome.result === "ok" ? undefined : outcome.result);
    const isApplied = await runs.advance({ environmentId, runNo, entry, decide: outcome.decide }, call.span?.traceparent);
    onCall(entry, outcome.result);
    if (isApplied) return;
    // The run ended during the call: nothing changes, but the call is recorded, and its slots are free now.
    await untilWritten(() => store.runNoteCall({ environmentId, runNo, ...outcome.late() }));
    await untilWritten(() => store.queueRemove(entry));
  }
}

function isGone(target: ExecutedFunction | undefined): boolean {
  return !target || target.app.removedAt !== null;
}

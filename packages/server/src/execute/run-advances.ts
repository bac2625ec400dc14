/** Writes changes of runs, and tells those who follow runs once a change is stored. */

import type { RunNo } from "@inlet/protocol";
import type { ClaimedEntry, Lease, RunAdvanceParams, RunChange, RunEnd, RunRecord, RunState, Store } from "../store/contract/index.ts";
import type { RunTracing } from "./call-tracing.ts";
import type { Clock } from "./clock.ts";
import type { FunctionOf } from "./function-calls.ts";
import type { UntilWritten } from "./queue/until-written.ts";
import { type EndEvents, failRun } from "./steps/run-changes.ts";

export interface RunAdvancesParts {
  store: Pick<Store, "runAdvance" | "queueRemove">;
  functionOf: FunctionOf;
  endEvents: EndEvents;
  /** Called when the first call of a run was made and this is stored: a call that is made again, for want of a result, counts once. */
  onStart(run: RunRecord): void;
  /** Called when a run has ended and this is stored. */
  onEnd(run: RunRecord, end: RunEnd): void;
  /** Null: traces are not exported. */
  tracing: RunTracing | null;
  clock: Clock;
}

/** The node that makes the changes: entries that a change adds may be leased to it at once. */
export interface AdvancingNode {
  lease(): Lease;
  take(entries: readonly ClaimedEntry[]): void;
  untilWritten: UntilWritten;
}

type AdvanceParams = Omit<RunAdvanceParams, "now" | "lease">;

export class RunAdvances {
  readonly #parts: RunAdvancesParts;
  readonly #node: AdvancingNode;

  constructor(parts: RunAdvancesParts, node: AdvancingNode) {
    this.#parts = parts;
    this.#node = node;
  }

  /** A response that cannot be stored now is kept until it can: only a crash makes a step run again. Returns whether it was applied. */
  async advance(params: AdvanceParams, callTrace?: string): Promise<boolean> {
    const { store, clock } = this.#parts;
    // What was decided last is what was stored: the store may ask again, when another change came between.
    let onStored: (() => void) | undefined;
    const decide = (state: RunState): RunChange => {
      const change = { ...params.decide(state), decidedAt: clock.now() };
      onStored = this.#telling(state, change, callTrace);
      return this.#holdsOrder(state, change) ? { ...change, holdsOrder: true } : change;
    };
    const { applied, leased } = await this.#node.untilWritten(() =>
      store.runAdvance({ ...params, decide, now: clock.now(), lease: this.#node.lease() }),
    );
    this.#node.take(leased);
    if (applied) onStored?.();
    return applied;
  }

  async fail(entry: ClaimedEntry, runNo: RunNo, message: string): Promise<void> {
    const { store, endEvents, clock } = this.#parts;
    const decide = (state: RunState) => failRun(state, { name: "RunAbandoned", message }, clock.now(), endEvents);
    const isApplied = await this.advance({ environmentId: entry.environmentId, runNo, entry, decide });
    // The run ended while the entry was leased: such an entry belongs to its holder, and nobody else removes it.
    if (!isApplied) await this.#node.untilWritten(() => store.queueRemove(entry));
  }

  #holdsOrder({ run }: RunState, { end }: RunChange): boolean {
    return end?.status === "failed" && this.#parts.functionOf(run.functionNo)?.holdsOrder === true;
  }

  /** The state can be read only now: what it takes to tell of the change is read before it is stored. */
  #telling(state: RunState, { startedAt, end, steps = [] }: RunChange, callTrace: string | undefined): () => void {
    const { tracing, onStart, onEnd } = this.#parts;
    const ended = tracing ? steps.filter(({ endedAt }) => endedAt !== null) : [];
    const trace = ended.length > 0 ? (callTrace ?? state.events()[0]?.trace) : undefined;
    const { run } = state;
    const isStart = startedAt !== undefined && run.startedAt === null;
    return () => {
      if (ended.length > 0) tracing?.steps(run, ended, trace);
      if (isStart) onStart(run);
      if (end) onEnd(run, end);
    };
  }
}

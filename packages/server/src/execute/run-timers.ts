/** Entries of runs that call no app: the end of a sleep or of a wait, and the limits of how long a run may take. */

import type { RunNo } from "@inlet/protocol";
import type { ClaimedEntry, RunChange, RunState, Store } from "../store/contract/index.ts";
import type { Clock } from "./clock.ts";
import type { FunctionOf } from "./function-calls.ts";
import type { UntilWritten } from "./queue/until-written.ts";
import type { RunAdvances } from "./run-advances.ts";
import type { EndEvents } from "./steps/run-changes.ts";
import { arrivedMeanwhile, hasTimedOut, timerChange } from "./steps/timer-change.ts";

/** How long the timeout of a wait is put off while events received before it have yet to be matched with the wait. */
const PENDING_MATCH_MS = 100;

export interface RunTimersParts {
  store: Pick<Store, "eventAt" | "runEnd" | "waitIsPending" | "queueReschedule" | "queueRemove">;
  functionOf: FunctionOf;
  endEvents: EndEvents;
  clock: Clock;
  runs: RunAdvances;
  untilWritten: UntilWritten;
}

export class RunTimers {
  readonly #parts: RunTimersParts;

  constructor(parts: RunTimersParts) {
    this.#parts = parts;
  }

  async work(entry: ClaimedEntry, runNo: RunNo): Promise<void> {
    const { store, functionOf, clock, endEvents, runs, untilWritten } = this.#parts;
    const { environmentId, eventSequence, endedRunNo } = entry;
    if (await this.#isPending(entry, runNo)) {
      const dueAt = clock.now() + PENDING_MATCH_MS;
      return untilWritten(() => store.queueReschedule({ ...entry, dueAt }));
    }
    const event = eventSequence === null ? null : await store.eventAt({ environmentId, sequence: eventSequence });
    const ended = endedRunNo === null ? null : await store.runEnd({ environmentId, runNo: endedRunNo });
    const limitsStart = functionOf(entry.functionNo)?.timeouts.startMs !== null;
    let arrived: number | null = null;
    const decide = (state: RunState): RunChange => {
      arrived = arrivedMeanwhile(entry, state);
      return arrived === null ? timerChange(entry, state, { event, ended, limitsStart, now: clock.now(), endEvents }) : { entry: "keep" };
    };
    const isApplied = await runs.advance({ environmentId, runNo, entry, decide });
    if (isApplied && arrived !== null) return this.work({ ...entry, eventSequence: arrived }, runNo);
    // The run ended at the moment the entry was added.
    if (!isApplied) await untilWritten(() => store.queueRemove(entry));
  }

  /** An event that came in time resumes the run, although other waits are matched with it first. */
  async #isPending(entry: ClaimedEntry, runNo: RunNo): Promise<boolean> {
    const { environmentId, stepId } = entry;
    return hasTimedOut(entry) && stepId !== null && this.#parts.store.waitIsPending({ environmentId, runNo, stepId });
  }
}

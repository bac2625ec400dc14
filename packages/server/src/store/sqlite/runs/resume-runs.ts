/**
 * Ends the waits that events and signals match. The run itself is not changed here: the entry of the waiting step becomes due and records the
 * event, and the node that claims it resumes the run. A run that the event cancels gets an entry for that.
 */

import type { EnvironmentId, StepId } from "@inlet/protocol";
import {
  type NewEvent,
  type NewWait,
  type RunRecord,
  SIGNAL_TAKEN,
  type StoredWait,
  signalEventName,
  TIMER_LANE,
  type WaitRules,
} from "../../contract/index.ts";
import type { LeaseAllocation } from "../../policy/lease-allocation.ts";
import type { InsertEvents } from "../events/insert-events.ts";
import type { QueueEntries } from "../queue/queue-entries.ts";
import type { RunStates } from "./run-state.ts";
import type { Waits } from "./waits.ts";

export interface ResumeRunsParts {
  waits: Waits;
  states: RunStates;
  entries: QueueEntries;
  rules: WaitRules;
  rows: InsertEvents;
}

export class ResumeRuns {
  readonly #parts: ResumeRunsParts;

  constructor(parts: ResumeRunsParts) {
    this.#parts = parts;
  }

  /** Called when the event has just been stored. */
  resume(allocation: LeaseAllocation, environmentId: EnvironmentId, event: NewEvent, receivedAt: number, sequence: number): void {
    const { waits, rules, rows } = this.#parts;
    const candidates = waits.candidates(environmentId, event.name, (path) => rules.keyAt(event, path));
    const open = candidates.filter(({ since, expiresAt }) => since <= receivedAt && expiresAt > allocation.now);
    if (open.length === 0) return;
    // The event that started a run is looked up, and may be this one.
    rows.flush();
    for (const wait of open) if (this.#matches(wait, event, sequence)) this.#end(allocation, wait, sequence);
  }

  /** Called when the wait has just been stored, so that events stored shortly before it are not missed. */
  lookBack(allocation: LeaseAllocation, run: RunRecord, wait: NewWait): void {
    if (wait.kind !== "event") return;
    const stored = { ...wait, runNo: run.no };
    for (const event of this.#parts.states.eventsSince(run.environmentId, wait.eventName, wait.since)) {
      if (!this.#matches(stored, event, event.sequence)) continue;
      this.#end(allocation, stored, event.sequence);
      return;
    }
  }

  /** The run that the signal resumes; null if none waits for it. */
  signal(allocation: LeaseAllocation, environmentId: EnvironmentId, signal: string, value: string): RunRecord | null {
    const { waits, entries, states } = this.#parts;
    const found = waits.findSignal(environmentId, signalEventName(signal), allocation.now);
    if (!found || !entries.makeDue(allocation, found.runNo, found.stepId, { outcome: { value } })) return null;
    waits.dropStep(found.runNo, found.stepId);
    return states.run(found.runNo);
  }

  /** Another run waits for the same signal. */
  fail(allocation: LeaseAllocation, runNo: RunRecord["no"], stepId: StepId | null): void {
    if (stepId !== null) this.#parts.entries.makeDue(allocation, runNo, stepId, { outcome: { fault: SIGNAL_TAKEN } });
  }

  /** The event that started a run neither resumes nor cancels it. */
  #matches(wait: StoredWait, event: NewEvent, sequence: number): boolean {
    const { states, rules } = this.#parts;
    const run = states.run(wait.runNo);
    if (!run || run.eventSequence === sequence) return false;
    if (wait.expression === null) return true;
    const [runEvent] = states.events([run.eventSequence]);
    return runEvent !== undefined && rules.matches(wait, event, runEvent);
  }

  #end(allocation: LeaseAllocation, { kind, runNo, stepId }: StoredWait, sequence: number): void {
    if (kind === "cancel") return this.cancel(allocation, runNo, sequence);
    if (stepId === null) return;
    if (!this.#parts.entries.makeDue(allocation, runNo, stepId, { eventSequence: sequence })) return;
    this.#parts.waits.dropStep(runNo, stepId);
    this.#parts.rows.markMatched(sequence);
  }

  /** The node that claims the entry cancels the run. A run has at most one such entry. */
  cancel(allocation: LeaseAllocation, runNo: RunRecord["no"], sequence: number | null): void {
    const run = this.#parts.states.run(runNo);
    if (!run || run.endedAt !== null) return;
    const { environmentId, functionNo } = run;
    const due = { rank: allocation.now, dueAt: allocation.now };
    this.#parts.entries.add(allocation, {
      ...{ environmentId, functionNo, runNo, ...due, kind: "cancel", lane: TIMER_LANE },
      ...{ stepId: null, attempt: 0, subject: null, eventSequence: sequence },
    });
  }
}

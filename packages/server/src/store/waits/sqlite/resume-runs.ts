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
  signalEventName,
  TIMER_LANE,
  WAITS_PER_EVENT_MAX,
  type WaitRules,
} from "../../contract/index.ts";
import type { InsertEvents } from "../../events/sqlite/insert-events.ts";
import type { LeaseAllocation } from "../../queue/policy/lease-allocation.ts";
import type { QueueEntries } from "../../queue/sqlite/queue-entries.ts";
import type { Resumptions } from "../../resumptions/sqlite/resumptions.ts";
import type { RunStates } from "../../runs/sqlite/run-state.ts";
import {
  candidateEvents,
  coversLookBack,
  firstMatch,
  type MatchedWait,
  ResumptionPlan,
  type SeenEvent,
  type WaitingRun,
} from "../policy.ts";
import type { FoundWait } from "../rows.ts";
import type { Waits } from "./waits.ts";

export interface ResumeRunsParts {
  waits: Waits;
  states: RunStates;
  entries: QueueEntries;
  rules: WaitRules;
  rows: InsertEvents;
  resumptions: Resumptions;
}

type EndedWait = Pick<FoundWait, "kind" | "runNo" | "stepId">;

export class ResumeRuns {
  readonly #parts: ResumeRunsParts;
  #plan = new ResumptionPlan();

  constructor(parts: ResumeRunsParts) {
    this.#parts = parts;
  }

  /** The transaction has ended: the next one has bounds of its own. */
  forget(): void {
    this.#plan = new ResumptionPlan();
  }

  /** Called when the event has just been stored. */
  resume(allocation: LeaseAllocation, environmentId: EnvironmentId, seen: SeenEvent): void {
    const { resumptions, rows } = this.#parts;
    const { name } = seen.event;
    const found = this.candidates(environmentId, seen.event, { after: 0, limit: WAITS_PER_EVENT_MAX + 1 });
    if (found.length === 0) return;
    // The event that started a run is looked up, and may be this one.
    rows.flush();
    const isPending = resumptions.isPending({ environmentId, eventName: name });
    if (this.#plan.isDeferred({ name: `${environmentId} ${name}`, waits: found.length, isPending }))
      resumptions.add({ environmentId, eventName: name }, seen.sequence);
    else this.endMatching(allocation, found, [seen]);
  }

  /** Waits for the event's name, and for its values. */
  candidates(environmentId: EnvironmentId, event: NewEvent, range: { after: number; limit: number }): FoundWait[] {
    const { waits, rules } = this.#parts;
    return waits.candidates({ environmentId, eventName: event.name, keyAt: (path) => rules.keyAt(event, path) }, range);
  }

  /** Called when the wait has just been stored, so that events stored before it are not missed. */
  lookBack(allocation: LeaseAllocation, run: RunRecord, wait: NewWait): void {
    const { states, waits, resumptions } = this.#parts;
    const { kind, stepId, eventName, match, since, expiresAt, expression } = wait;
    if (kind !== "event" || stepId === null) return;
    const newest = states.newestEvents(run.environmentId, eventName, since);
    if (coversLookBack(wait, newest)) {
      this.endMatching(allocation, [{ kind, stepId, since, expiresAt, expression, runNo: run.no, kept: match }], newest.events);
    } else {
      waits.startLookBack(run.no, stepId);
      resumptions.announce();
    }
  }

  /** Ends those of the waits for one name that one of these events matches; of several events, by the first. */
  endMatching(allocation: LeaseAllocation, waits: readonly (EndedWait & MatchedWait)[], seen: readonly SeenEvent[]): void {
    if (seen.length === 0) return;
    const candidatesOf = candidateEvents(seen, this.#parts.rules, (key) => key);
    for (const wait of waits) {
      const candidates = candidatesOf(wait);
      const first = candidates.length > 0 && firstMatch(wait, candidates, this.#waitingRun(wait), this.#parts.rules);
      if (first) this.#end(allocation, wait, first.sequence);
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

  /** Its event is read only if an expression needs it. */
  #waitingRun({ runNo, expression }: EndedWait & MatchedWait): WaitingRun | undefined {
    const { states } = this.#parts;
    const run = states.run(runNo);
    if (!run || run.endedAt !== null) return undefined;
    const [event = null] = expression === null ? [] : states.events([run.eventSequence]);
    return { eventSequence: run.eventSequence, event };
  }

  #end(allocation: LeaseAllocation, { kind, runNo, stepId }: EndedWait, sequence: number): void {
    if (kind === "cancel") return this.cancel(allocation, runNo, sequence);
    if (stepId === null) return;
    const { entries, waits, rows } = this.#parts;
    if (entries.makeDue(allocation, runNo, stepId, { eventSequence: sequence })) waits.dropStep(runNo, stepId);
    else if (!entries.noteArrival(runNo, stepId, sequence)) return;
    rows.noteMatched(sequence);
  }

  /** The node that claims the entry cancels the run. A run has at most one such entry. */
  cancel(allocation: LeaseAllocation, runNo: RunRecord["no"], sequence: number | null): void {
    const run = this.#parts.states.run(runNo);
    if (!run || run.endedAt !== null) return;
    const { environmentId, functionNo } = run;
    const due = { rank: allocation.now, dueAt: allocation.now };
    this.#parts.entries.add(allocation, {
      environmentId,
      functionNo,
      runNo,
      ...due,
      kind: "cancel",
      lane: TIMER_LANE,
      stepId: null,
      attempt: 0,
      subject: null,
      eventSequence: sequence,
    });
  }
}

/** An event that was just stored resumes the runs that wait for it, and cancels those it is meant to cancel. */

import type { EnvironmentId } from "@inlet/protocol";
import type { NewEvent, RunRules, StoredWait } from "../contract/index.ts";
import type { Handing } from "../rows/entry-writes.ts";
import type { AdvanceRun } from "./advance-run.ts";
import type { InsertEvents } from "./insert-events.ts";
import type { RunStates } from "./run-state.ts";
import type { Waits } from "./waits.ts";

export class ResumeRuns {
  readonly #waits: Waits;
  readonly #states: RunStates;
  readonly #runs: AdvanceRun;
  readonly #rules: RunRules;
  readonly #rows: InsertEvents;

  constructor(parts: { waits: Waits; states: RunStates; runs: AdvanceRun; rules: RunRules; rows: InsertEvents }) {
    this.#waits = parts.waits;
    this.#states = parts.states;
    this.#runs = parts.runs;
    this.#rules = parts.rules;
    this.#rows = parts.rows;
  }

  resume(handing: Handing, environmentId: EnvironmentId, event: NewEvent, sequence: number): void {
    const candidates = this.#waits.candidates(environmentId, event.name, (path) => this.#rules.keyAt(event, path));
    if (candidates.length === 0) return;
    // Runs may look for events, this one among them.
    this.#rows.flush();
    for (const wait of candidates) {
      if (wait.expiresAt > handing.now && this.#matches(wait, event, sequence)) this.#apply(handing, wait, event);
    }
  }

  /** The event that started a run neither resumes nor cancels it. */
  #matches(wait: StoredWait, event: NewEvent, sequence: number): boolean {
    const run = this.#states.run(wait.runNo);
    if (!run || run.eventSequence === sequence) return false;
    if (wait.expression === null) return true;
    const [runEvent] = this.#states.events([run.eventSequence]);
    return runEvent !== undefined && this.#rules.matches(wait, event, runEvent);
  }

  #apply(handing: Handing, { kind, runNo, stepId }: StoredWait, event: NewEvent): void {
    this.#runs.advance(handing, runNo, null, (state) => {
      if (kind === "cancel" || stepId === null) return this.#rules.cancel(state, handing.now);
      return this.#rules.resolve(state, { id: stepId, status: "completed", value: this.#rules.eventValue(event) }, handing.now);
    });
  }
}

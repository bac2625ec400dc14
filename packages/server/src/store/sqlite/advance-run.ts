/** Writes what was decided about a run. Everything happens inside one transaction; a run that has ended is never changed. */

import type { DatabaseSync } from "node:sqlite";
import type { EntryNo, RunNo } from "@inlet/protocol";
import type {
  CallRecord,
  EventBatch,
  EventPlace,
  FailedAttempt,
  LateCall,
  NewEntry,
  NewWait,
  RunChange,
  RunEnd,
  RunRecord,
  RunRules,
  RunState,
  StepWrite,
  StoredEvent,
  StoredWait,
} from "../contract/index.ts";
import type { Handing } from "../rows/entry-writes.ts";
import type { ChangedRuns } from "./changed-runs.ts";
import type { QueueEntries } from "./queue-entries.ts";
import type { HeldEntry, HeldRunState, RunStates } from "./run-state.ts";
import type { Waits } from "./waits.ts";

export type Decide = (state: RunState) => RunChange;
/** Events that a change gives rise to are appended by the one who appends events. */
export type AppendInside = (handing: Handing, batch: EventBatch) => void;

export interface AdvanceRunParts {
  states: RunStates;
  entries: QueueEntries;
  waits: Waits;
  rules: RunRules;
  append: AppendInside;
  changed: ChangedRuns;
}

export class AdvanceRun {
  readonly #states: RunStates;
  readonly #entries: QueueEntries;
  readonly #waits: Waits;
  readonly #rules: RunRules;
  readonly #append: AppendInside;
  readonly #changed: ChangedRuns;
  readonly #updateRun;
  readonly #endRun;
  readonly #writeStep;
  readonly #addAttempt;
  readonly #addCall;
  readonly #findCall;
  readonly #removeEntry;
  readonly #setAttempt;
  readonly #dropTimers;
  readonly #dropEntries;

  constructor(db: DatabaseSync, parts: AdvanceRunParts) {
    this.#changed = parts.changed;
    this.#states = parts.states;
    this.#entries = parts.entries;
    this.#waits = parts.waits;
    this.#rules = parts.rules;
    this.#append = parts.append;
    this.#updateRun = db.prepare(`
      UPDATE runs SET status = ?, started_at = ?, request_version = ?, is_parallel = ?, state_bytes = ? WHERE run_no = ?`);
    this.#endRun = db.prepare(`
      UPDATE runs SET status = ?, started_at = ?, request_version = ?, ended_at = ?, output = ?, error = ? WHERE run_no = ?`);
    this.#writeStep = db.prepare(`
      INSERT INTO steps (run_no, step_id, kind, name, status, position, done_position, started_at, ended_at, attempts, until, detail, value)
      VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13)
      ON CONFLICT DO UPDATE SET kind = ?3, status = ?5, done_position = ?7, ended_at = ?9, attempts = ?10, until = ?11, detail = ?12, value = ?13
      WHERE steps.done_position IS NULL`);
    this.#addAttempt = db.prepare(`
      INSERT INTO failed_attempts (run_no, step_id, attempt, started_at, ended_at, http_status, error) VALUES (?, ?, ?, ?, ?, ?, ?)`);
    this.#addCall = db.prepare(`
      INSERT INTO calls (run_no, step_id, attempt, started_at, ended_at, http_status, is_error, path, steps_given, answer, answer_length)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`);
    this.#findCall = db.prepare("SELECT 1 FROM calls WHERE run_no = ? AND started_at = ? AND step_id IS ? AND attempt = ?");
    this.#removeEntry = db.prepare("DELETE FROM queue WHERE entry_no = ?");
    this.#setAttempt = db.prepare("UPDATE queue SET attempt = 0 WHERE run_no = ? AND step_id = '' AND kind = 'call'");
    this.#dropTimers = db.prepare("DELETE FROM queue WHERE run_no = ? AND step_id = ? AND kind <> 'call'");
    this.#dropEntries = db.prepare("DELETE FROM queue WHERE run_no = ?");
  }

  /** False when the run has ended, or the entry is not held by `node` any more. */
  advance(handing: Handing, runNo: RunNo, held: { entryNo: EntryNo; node: string } | null, decide: Decide): boolean {
    const state = this.#states.state(runNo);
    const entry = held && state?.entries.find(({ no, leasedBy }) => no === held.entryNo && leasedBy === held.node);
    if (!state || (held && !entry)) return false;
    this.#apply(handing, state, entry ?? null, decide(state));
    return true;
  }

  #apply(handing: Handing, state: HeldRunState, entry: HeldEntry | null, change: RunChange): void {
    const { run } = state;
    this.#changed.note(run.no);
    for (const attempt of change.attempts ?? []) this.#noteAttempt(run.no, attempt);
    if (change.call) this.#noteCall(run.no, change.call);
    const stateBytes = this.#writeSteps(state, change.steps ?? []);
    if (change.end) this.#end(handing, run, change, change.end);
    else {
      const { status = run.status, startedAt = run.startedAt, requestVersion = run.requestVersion, isParallel = run.isParallel } = change;
      this.#updateRun.run(status, startedAt, requestVersion, isParallel ? 1 : 0, stateBytes, run.no);
      for (const stepId of change.settled ?? []) this.#settle(run.no, stepId);
      for (const wait of change.waits ?? []) this.#waits.add(run.environmentId, run.no, wait);
      this.#moveOn(handing, run, entry, change);
      for (const wait of change.waits ?? []) this.#catchUp(handing, run, wait);
    }
    for (const batch of change.events ?? []) this.#append(handing, batch);
  }

  noteLateCall({ runNo, call, failure }: LateCall): void {
    if (this.#findCall.get(runNo, call.startedAt, call.stepId, call.attempt)) return;
    this.#changed.note(runNo);
    if (failure) this.#noteAttempt(runNo, failure);
    this.#noteCall(runNo, call);
  }

  #noteAttempt(runNo: RunNo, { stepId, attempt, startedAt, endedAt, httpStatus, error }: FailedAttempt): void {
    this.#addAttempt.run(runNo, stepId, attempt, startedAt, endedAt, httpStatus, JSON.stringify(error));
  }

  #noteCall(runNo: RunNo, call: CallRecord): void {
    const { stepId, attempt, startedAt, endedAt, httpStatus, outcome, path, stepsGiven, answer, answerLength } = call;
    const isError = outcome === "error" ? 1 : 0;
    this.#addCall.run(runNo, stepId, attempt, startedAt, endedAt, httpStatus, isError, path, stepsGiven, answer, answerLength);
  }

  /** An event that came while the wait was on its way here is not missed. */
  #catchUp(handing: Handing, run: RunRecord, { kind, stepId, since, ...wait }: NewWait): void {
    if (kind !== "event" || stepId === null || since === undefined) return;
    const event = this.#eventSince(run, { ...wait, kind, stepId, runNo: run.no }, since);
    if (!event) return;
    const step = { id: stepId, status: "completed", value: this.#rules.eventValue(event) } as const;
    this.advance(handing, run.no, null, (state) => this.#rules.resolve(state, step, handing.now));
  }

  #eventSince(run: RunRecord, wait: StoredWait, since: EventPlace): StoredEvent | null {
    let runEvent: StoredEvent | undefined;
    for (const event of this.#states.eventsSince(run, wait.eventName, since)) {
      runEvent ??= this.#states.events([run.eventSequence])[0];
      if (!runEvent) return null;
      if (event.sequence !== run.eventSequence && this.#rules.matches(wait, event, runEvent)) return event;
    }
    return null;
  }

  #writeSteps({ run, steps }: RunState, writes: readonly StepWrite[]): number {
    let found = steps.length;
    let done = steps.filter(({ endedAt }) => endedAt !== null).length;
    let bytes = run.stateBytes;
    for (const step of writes) {
      const position = steps.find(({ id }) => id === step.id)?.position ?? found++;
      const donePosition = step.value === undefined ? null : done++;
      bytes += step.value?.length ?? 0;
      const { id, kind, name, status, startedAt, endedAt, attempts, until, detail, value } = step;
      const place = [run.no, id, kind, name, status, position, donePosition];
      this.#writeStep.run(...place, startedAt, endedAt, attempts, until, detail, value ?? null);
    }
    return bytes;
  }

  #settle(runNo: RunNo, stepId: Parameters<Waits["dropStep"]>[1]): void {
    this.#dropTimers.run(runNo, stepId);
    this.#waits.dropStep(runNo, stepId);
  }

  /** The entry worked on is done, tried again, or goes again; further entries are added. */
  #moveOn(handing: Handing, run: RunRecord, entry: HeldEntry | null, change: RunChange): void {
    const added = [...(change.entries ?? [])];
    if (change.entry === "reset-attempt") this.#setAttempt.run(run.no);
    if (entry && typeof change.entry === "object") {
      const { retryAt, attempt } = change.entry;
      this.#entries.renew(handing, entry.no, this.#write(run, { kind: "call", stepId: entry.stepId, attempt, dueAt: retryAt }, handing));
    } else if (entry && change.entry === undefined) {
      const same = added.findIndex(({ kind, stepId }) => kind === entry.kind && stepId === entry.stepId);
      if (same >= 0 || entry.goesAgain) {
        const next = same >= 0 ? (added.splice(same, 1)[0] as NewEntry) : ({ kind: "call", stepId: entry.stepId } as const);
        this.#entries.renew(handing, entry.no, this.#write(run, next, handing));
      } else this.#removeEntry.run(entry.no);
    }
    for (const next of added) this.#entries.add(handing, this.#write(run, next, handing));
  }

  #write(run: RunRecord, { kind, stepId, attempt = 0, dueAt }: NewEntry, { now }: Handing): Parameters<QueueEntries["add"]>[1] {
    const { environmentId, lane, functionNo, no } = run;
    const place = { environmentId, lane, functionNo, runNo: no, rank: run.createdAt, dueAt: dueAt ?? now };
    return { ...place, kind, stepId, attempt, subject: null, eventSequence: null };
  }

  #end(handing: Handing, run: RunRecord, change: RunChange, end: RunEnd): void {
    const { startedAt = run.startedAt, requestVersion = run.requestVersion } = change;
    this.#endRun.run(end.status, startedAt, requestVersion, end.endedAt, end.output, end.error && JSON.stringify(end.error), run.no);
    this.#dropEntries.run(run.no);
    this.#waits.dropRun(run.no);
    handing.withdraw(run.no);
    if (!run.invoker) return;
    const { runNo, stepId } = run.invoker;
    this.advance(handing, runNo, null, (state) => this.#rules.resolve(state, { id: stepId, ...end.invokerValue }, handing.now));
  }
}

/** Changes one run: reads its state, makes the decision, and writes the result, in one transaction. An ended run is never changed. */

import type { DatabaseSync } from "node:sqlite";
import type { RunNo } from "@inlet/protocol";
import { answerValue, keptDecision } from "../../approvals/policy.ts";
import type { ApprovalRows } from "../../approvals/sqlite/approval-rows.ts";
import type { CallRecord, EventBatch, FailedAttempt, LateCall, LeasedEntry, NewWait, RunChange, RunState } from "../../contract/index.ts";
import type { Limits } from "../../limits/sqlite.ts";
import type { RunOrder } from "../../orders/sqlite.ts";
import type { LeaseAllocation } from "../../queue/policy/lease-allocation.ts";
import type { QueueEntries } from "../../queue/sqlite/queue-entries.ts";
import { figuresOfRun } from "../../traffic/policy.ts";
import type { TrafficRows } from "../../traffic/sqlite.ts";
import type { ResumeRuns } from "../../waits/sqlite/resume-runs.ts";
import type { Waits } from "../../waits/sqlite/waits.ts";
import { planRunWrites, type RunWrites } from "../policy/plan-run-writes.ts";
import type { ChangedRuns } from "./changed-runs.ts";
import type { RunStates } from "./run-state.ts";
import type { StepRows } from "./step-rows.ts";

/** Appends the events that a change emits. */
export type AppendInside = (allocation: LeaseAllocation, batch: EventBatch) => void;

export interface AdvanceRunParts {
  states: RunStates;
  steps: StepRows;
  entries: QueueEntries;
  waits: Waits;
  approvals: ApprovalRows;
  limits: Limits;
  order: RunOrder;
  resumeRuns: ResumeRuns;
  append: AppendInside;
  changed: ChangedRuns;
  traffic: TrafficRows;
}

export class AdvanceRun {
  readonly #parts: AdvanceRunParts;
  readonly #writeRun;
  readonly #addAttempt;
  readonly #addCall;
  readonly #findCall;
  readonly #removeEntry;
  readonly #goAgain;
  readonly #resetAttempt;

  constructor(db: DatabaseSync, parts: AdvanceRunParts) {
    this.#parts = parts;
    this.#writeRun = db.prepare(`
      UPDATE runs SET status = ?, started_at = ?, ended_at = ?, request_version = ?, is_parallel = ?, state_bytes = ?, output = ?, error = ?,
        cancel_event_id = ?
      WHERE run_no = ?`);
    this.#addAttempt = db.prepare(`
      INSERT INTO failed_attempts (run_no, step_id, attempt, started_at, ended_at, http_status, error) VALUES (?, ?, ?, ?, ?, ?, ?)`);
    this.#addCall = db.prepare(`
      INSERT INTO calls (run_no, step_id, attempt, started_at, ended_at, http_status, is_error, path, steps_given, answer, answer_length,
        logs)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`);
    this.#findCall = db.prepare("SELECT 1 FROM calls WHERE run_no = ? AND started_at = ? AND step_id IS ? AND attempt = ?");
    this.#removeEntry = db.prepare("DELETE FROM queue WHERE entry_no = ?");
    this.#goAgain = db.prepare("UPDATE queue SET again = 1 WHERE entry_no = ?");
    this.#resetAttempt = db.prepare("UPDATE queue SET attempt = 0 WHERE entry_no = ?");
  }

  /** False if the run has ended, or the entry is no longer leased under this id. */
  advance(
    allocation: LeaseAllocation,
    runNo: RunNo,
    held: Pick<LeasedEntry, "no" | "leaseId"> | null,
    decide: (state: RunState) => RunChange,
  ): boolean {
    const state = this.#parts.states.state(runNo);
    const entry = held && state?.entries.find(({ no, leaseId }) => no === held.no && leaseId === held.leaseId);
    if (!state || (held && !entry)) return false;
    const change = decide(state);
    this.#parts.changed.note(runNo);
    for (const attempt of change.attempts ?? []) this.#noteAttempt(runNo, attempt);
    if (change.call) this.#noteCall(runNo, change.call);
    const writes = planRunWrites(state, entry ?? null, change, allocation);
    this.#parts.traffic.note(figuresOfRun(state.run.environmentId, state.run, writes.run));
    this.#write(allocation, state, writes);
    for (const batch of change.events ?? []) this.#parts.append(allocation, batch);
    return true;
  }

  noteLateCall({ runNo, call, failure }: LateCall): void {
    if (this.#findCall.get(runNo, call.startedAt, call.stepId, call.attempt)) return;
    this.#parts.changed.note(runNo);
    if (failure) this.#noteAttempt(runNo, failure);
    this.#noteCall(runNo, call);
  }

  #write(allocation: LeaseAllocation, { run }: RunState, writes: RunWrites): void {
    const { steps, entries, waits, approvals, limits, order, resumeRuns } = this.#parts;
    const { runNo, isEnd, resumed, waitsAdded } = writes;
    this.#writeRunRow(runNo, writes.run);
    for (const step of writes.steps) steps.write(runNo, step);
    for (const entryNo of writes.slotsFreed) limits.freeEntry(runNo, entryNo);
    for (const entryNo of writes.entriesRemoved) this.#removeEntry.run(entryNo);
    for (const entryNo of writes.entriesAgain) this.#goAgain.run(entryNo);
    for (const entryNo of writes.entriesReset) this.#resetAttempt.run(entryNo);
    for (const { no, write, position } of writes.entriesRenewed) entries.renew(allocation, no, write, position);
    for (const { write, position } of writes.entriesAdded) entries.add(allocation, write, position);
    for (const stepId of writes.waitsRemoved) waits.dropStep(runNo, stepId);
    for (const approval of writes.approvalsAdded) approvals.insert(run.environmentId, approval, run);
    for (const wait of waitsAdded) {
      if (wait.kind === "signal") this.#waitForSignal(allocation, run, wait);
      else waits.add(run.environmentId, runNo, wait);
    }
    for (const wait of waitsAdded) resumeRuns.lookBack(allocation, run, wait);
    if (writes.endsApprovals) approvals.endRun(runNo, allocation.now);
    if (isEnd) {
      waits.dropRun(runNo);
      limits.freeRun(runNo);
    }
    if (writes.order) order.end(runNo, writes.order === "held" ? allocation.now : null);
    if (resumed) entries.makeDue(allocation, resumed.runNo, resumed.stepId, { endedRunNo: runNo });
  }

  /** A decision that was made before the step waits is given to it at once. */
  #waitForSignal(allocation: LeaseAllocation, run: RunState["run"], wait: NewWait): void {
    const { waits, approvals, entries, resumeRuns } = this.#parts;
    const { environmentId, no } = run;
    if (!waits.claimSignal(environmentId, no, wait, allocation.now)) return resumeRuns.fail(allocation, no, wait.stepId);
    const approval = approvals.pending(environmentId, wait.eventName);
    if (!approval || wait.stepId === null) return;
    approvals.link(approval, run, wait.stepId);
    const kept = keptDecision(approval);
    if (kept === null || !entries.makeDue(allocation, no, wait.stepId, { outcome: { value: answerValue(approval, kept) } })) return;
    waits.dropStep(no, wait.stepId);
    approvals.noteDelivered(approval);
  }

  #writeRunRow(runNo: RunNo, run: RunWrites["run"]): void {
    const { status, startedAt, endedAt, requestVersion, isParallel, stateBytes, output, error, cancelledBy } = run;
    const columns = [status, startedAt, endedAt, requestVersion, isParallel ? 1 : 0, stateBytes, output];
    this.#writeRun.run(...columns, error && JSON.stringify(error), cancelledBy, runNo);
  }

  #noteAttempt(runNo: RunNo, { stepId, attempt, startedAt, endedAt, httpStatus, error }: FailedAttempt): void {
    this.#addAttempt.run(runNo, stepId, attempt, startedAt, endedAt, httpStatus, JSON.stringify(error));
  }

  #noteCall(runNo: RunNo, call: CallRecord): void {
    const { stepId, attempt, startedAt, endedAt, httpStatus, outcome, path, stepsGiven, answer, answerLength } = call;
    const logs = call.logs && JSON.stringify(call.logs);
    const isError = outcome === "error" ? 1 : 0;
    this.#addCall.run(runNo, stepId, attempt, startedAt, endedAt, httpStatus, isError, path, stepsGiven, answer, answerLength, logs);
  }
}

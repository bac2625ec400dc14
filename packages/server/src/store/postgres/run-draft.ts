/** A run while a unit changes it, perhaps several times: every decision sees what the one before it did. Written out at the end. */

import type { EntryNo, StepId } from "@inlet/protocol";
import {
  type CallRecord,
  type FailedAttempt,
  type NewWait,
  type RunEnd,
  type RunKey,
  type RunRecord,
  type StepRecord,
  type StepWrite,
  toStoreText,
} from "../contract/index.ts";
import type { HeldEntry, ReadRun } from "./run-reads.ts";
import type { Place, UnitDraft } from "./unit-draft.ts";

type EntryChange = { change: "anew"; place: Place; attempt: number } | { change: "again" } | { change: "attempt" };

/** What is absent stays as it is. */
type RunFields = { [Name in "status" | "startedAt" | "requestVersion" | "isParallel"]?: RunRecord[Name] | undefined };

export class RunDraft {
  readonly revision: number;
  readonly eventNos: string | null;
  run: RunRecord;
  steps: StepRecord[];
  entries: HeldEntry[];
  isEnded = false;
  /** Absent: the status is left as it is, also when another node changes it meanwhile. */
  #status: RunRecord["status"] | null = null;
  #isChanged = false;
  #end: RunEnd | null = null;
  #done: number;
  readonly #stored: Set<EntryNo>;
  readonly #written = new Map<StepId, StepWrite & { position: number; donePosition: number | null }>();
  readonly #changes = new Map<EntryNo, EntryChange>();
  readonly #gone: EntryNo[] = [];
  readonly #attempts: FailedAttempt[] = [];
  readonly #calls: CallRecord[] = [];
  readonly #waits: NewWait[] = [];
  readonly #waitsGone = new Set<StepId>();
  readonly #hasWaits: boolean;
  /** The run is new, and stands among the rows of this unit already. */
  readonly #isStarted: boolean;

  constructor({ run, revision, eventNos, steps, entries, hasWaits }: ReadRun, isStarted: boolean) {
    this.#isStarted = isStarted;
    this.run = { ...run };
    this.revision = revision;
    this.eventNos = eventNos;
    this.steps = [...steps];
    this.entries = entries.map((entry) => ({ ...entry }));
    this.#stored = new Set(isStarted ? [] : entries.map(({ no }) => no));
    this.#done = steps.filter(({ endedAt }) => endedAt !== null).length;
    this.#hasWaits = hasWaits;
  }

  change({ status, startedAt, requestVersion, isParallel }: RunFields): void {
    const { run } = this;
    this.#isChanged = true;
    this.#status = status ?? this.#status;
    this.run = {
      ...run,
      status: status ?? run.status,
      startedAt: startedAt ?? run.startedAt,
      requestVersion: requestVersion ?? run.requestVersion,
      isParallel: isParallel ?? run.isParallel,
    };
  }

  writeStep(write: StepWrite): void {
    this.#isChanged = true;
    const index = this.steps.findIndex(({ id }) => id === write.id);
    const known = this.steps[index];
    // A step that is done never changes again.
    if (known && known.endedAt !== null) return;
    const position = known?.position ?? this.steps.length;
    const { value, ...record } = write;
    const step = { ...record, position, ...(known && { startedAt: known.startedAt }) };
    if (known) this.steps[index] = step;
    else this.steps.push(step);
    const donePosition = value === undefined ? null : this.#done++;
    this.run = { ...this.run, stateBytes: this.run.stateBytes + (value?.length ?? 0) };
    this.#written.set(write.id, { ...write, startedAt: step.startedAt, position, donePosition });
  }

  addAttempt(attempt: FailedAttempt): void {
    this.#isChanged = true;
    this.#attempts.push(attempt);
  }

  addCall(call: CallRecord): void {
    this.#isChanged = true;
    this.#calls.push(call);
  }

  addWait(wait: NewWait): void {
    this.#isChanged = true;
    this.#waits.push(wait);
  }

  noteEntry(entry: HeldEntry): void {
    this.#isChanged = true;
    this.entries.push(entry);
  }

  changeEntry(entry: HeldEntry, change: EntryChange): void {
    this.#isChanged = true;
    if (change.change === "anew") {
      const { leasedBy } = change.place;
      Object.assign(entry, {
        leasedBy,
        isHeld: leasedBy !== null,
        claims: leasedBy === null ? 0 : 1,
        goesAgain: false,
        attempt: change.attempt,
      });
    }
    if (change.change === "again") entry.goesAgain = true;
    if (change.change === "attempt") entry.attempt = 0;
    // What was just made new is due to be called in any case.
    if (this.#changes.get(entry.no)?.change !== "anew" || change.change === "anew") this.#changes.set(entry.no, change);
  }

  removeEntries(isGone: (entry: HeldEntry) => boolean): void {
    for (const { no } of this.entries.filter(isGone)) this.#gone.push(no);
    this.entries = this.entries.filter((entry) => !isGone(entry));
    this.#isChanged = true;
  }

  dropWaits(stepId: StepId): void {
    const own = this.#waits.findIndex((wait) => wait.stepId === stepId);
    if (own >= 0) this.#waits.splice(own, 1);
    if (this.#hasWaits) this.#waitsGone.add(stepId);
  }

  end(end: RunEnd): void {
    this.#isChanged = true;
    this.#end = end;
    this.#status = end.status;
    this.isEnded = true;
    this.run = { ...this.run, status: end.status, endedAt: end.endedAt };
    this.#waits.length = 0;
    this.removeEntries(() => true);
  }

  /** Steps that this unit makes wait. */
  get waits(): readonly NewWait[] {
    return this.#waits;
  }

  /** As it is once this is written. */
  left(): ReadRun {
    const { run, eventNos, steps, entries } = this;
    const revision = this.revision + (this.#isChanged ? 1 : 0);
    return { run, revision, eventNos, steps, entries, hasWaits: this.#hasWaits || this.#waits.length > 0 };
  }

  /** Of the steps that this unit completes, in the order in which they are done. */
  newValues(): { id: StepId; value: string }[] {
    const done = [...this.#written.values()].filter(({ donePosition }) => donePosition !== null);
    done.sort((a, b) => (a.donePosition ?? 0) - (b.donePosition ?? 0));
    return done.flatMap(({ id, value }) => (value === undefined ? [] : [{ id, value }]));
  }

  writeTo(draft: UnitDraft): void {
    if (!this.#isChanged) return;
    const { rows } = draft;
    draft.changedRuns.add(this.run.no);
    const { no, environmentId, startedAt, requestVersion, isParallel, stateBytes } = this.run;
    rows.runs.push({
      environment_id: environmentId,
      run_no: no,
      status: this.#status,
      started_at: startedAt,
      request_version: requestVersion,
      is_parallel: isParallel ? 1 : 0,
      state_bytes: stateBytes,
      ended_at: this.#end?.endedAt ?? null,
      output: this.#end?.output ?? null,
      error: this.#end?.error ? JSON.stringify(this.#end.error) : null,
    });
    const key = { environmentId, runNo: no };
    for (const step of this.#written.values()) rows.steps.push(stepRow(key, step));
    for (const attempt of this.#attempts) rows.attempts.push(attemptRow(key, attempt));
    for (const call of this.#calls) rows.calls.push(callRow(key, call));
    this.#writeEntries(draft);
    if (this.#end && this.#hasWaits) rows.waitsGone.push({ environment_id: environmentId, run_no: no, step_id: null });
    else
      for (const stepId of this.#waitsGone)
        rows.waitsGone.push({ environment_id: environmentId, run_no: no, step_id: toStoreText(stepId) });
    if (this.#end && this.#isStarted) rows.newWaits = rows.newWaits.filter(({ run_no }) => run_no !== no);
    for (const wait of this.#waits) draft.addWait(environmentId, no, wait, null);
  }

  #writeEntries({ rows, entriesGone }: UnitDraft): void {
    const gone = new Set(this.#gone);
    for (const entryNo of gone) entriesGone.add(entryNo);
    rows.newEntries = rows.newEntries.filter(({ entry_no }) => !gone.has(entry_no as EntryNo));
    const environment = { environment_id: this.run.environmentId };
    for (const entryNo of this.#gone) if (this.#stored.has(entryNo)) rows.entriesGone.push({ ...environment, entry_no: entryNo });
    for (const [entryNo, change] of this.#changes) {
      if (gone.has(entryNo)) continue;
      if (change.change !== "anew") {
        if (this.#stored.has(entryNo)) rows.entries.push({ ...environment, entry_no: entryNo, change: change.change, attempt: 0 });
        continue;
      }
      const { laneNo, rank, dueAt, leasedBy } = change.place;
      const place = { lane_no: laneNo, rank, due_at: dueAt, leased_by: leasedBy, claims: leasedBy === null ? 0 : 1 };
      rows.entries.push({ ...environment, entry_no: entryNo, change: "anew", attempt: change.attempt, ...place });
    }
  }
}

function stepRow({ environmentId, runNo }: RunKey, step: StepWrite & { position: number; donePosition: number | null }) {
  const { id, kind, name, status, position, donePosition, startedAt, endedAt, attempts, until, detail, value } = step;
  return {
    environment_id: environmentId,
    run_no: runNo,
    step_id: toStoreText(id),
    kind,
    name: toStoreText(name),
    status,
    position,
    done_position: donePosition,
    started_at: startedAt,
    ended_at: endedAt,
    attempts,
    until,
    detail: detail && toStoreText(detail),
    value: value ?? null,
  };
}

export function attemptRow({ environmentId, runNo }: RunKey, { stepId, attempt, startedAt, endedAt, httpStatus, error }: FailedAttempt) {
  const at = { attempt, started_at: startedAt, ended_at: endedAt, http_status: httpStatus, error: JSON.stringify(error) };
  return { environment_id: environmentId, run_no: runNo, step_id: stepId === null ? null : toStoreText(stepId), ...at };
}

export function callRow({ environmentId, runNo }: RunKey, call: CallRecord) {
  const { stepId, attempt, startedAt, endedAt, httpStatus, outcome, path, stepsGiven, answer, answerLength } = call;
  return {
    environment_id: environmentId,
    run_no: runNo,
    step_id: stepId && toStoreText(stepId),
    attempt,
    started_at: startedAt,
    ended_at: endedAt,
    http_status: httpStatus,
    is_error: outcome === "error" ? 1 : 0,
    path: toStoreText(path),
    steps_given: stepsGiven,
    answer: answer && toStoreText(answer),
    answer_length: answerLength,
  };
}

/** Drafts what was decided about a run. A run that has ended is never changed. */

import type { EntryNo } from "@inlet/protocol";
import type { EventBatch, NewEntry, NewWait, RunChange, RunKey, RunRules, RunState } from "../../contract/index.ts";
import { claimed, type EntryWrite, type Handing } from "../../rows/entry-writes.ts";
import type { RunDraft } from "./run-draft.ts";
import { type HeldEntry, RECENT_EVENTS_MAX, STORED_WITHIN_MS } from "./run-reads.ts";
import type { UnitDraft } from "./unit-draft.ts";

export type Decide = (state: RunState) => RunChange;
/** Events that a change gives rise to are appended by the one who appends events. */
export type AppendInside = (draft: UnitDraft, handing: Handing, batch: EventBatch) => void;

export class AdvanceRun {
  readonly #rules: RunRules;
  readonly #append: AppendInside;

  constructor(rules: RunRules, append: AppendInside) {
    this.#rules = rules;
    this.#append = append;
  }

  /** False when the run has ended, or the entry is not held by `node` any more. */
  advance(draft: UnitDraft, handing: Handing, key: RunKey, held: { entryNo: EntryNo; node: string } | null, decide: Decide): boolean {
    const run = draft.run(key);
    const entry = held && run?.entries.find(({ no, leasedBy }) => no === held.entryNo && leasedBy === held.node);
    if (!run || (held && !entry)) return false;
    if (entry) draft.rows.held.push({ environment_id: key.environmentId, entry_no: entry.no, node: held?.node });
    this.#apply(draft, handing, run, entry ?? null, decide(stateOf(draft, run)));
    return true;
  }

  #apply(draft: UnitDraft, handing: Handing, run: RunDraft, entry: HeldEntry | null, change: RunChange): void {
    for (const attempt of change.attempts ?? []) run.addAttempt(attempt);
    if (change.call) run.addCall(change.call);
    for (const step of change.steps ?? []) run.writeStep(step);
    const { status, startedAt, requestVersion, isParallel } = change;
    if (change.end) {
      run.change({ startedAt, requestVersion });
      run.end(change.end);
      this.#tellInvoker(draft, handing, run, change.end.invokerValue);
    } else {
      run.change({ status, startedAt, requestVersion, isParallel });
      for (const stepId of change.settled ?? []) {
        run.removeEntries(({ stepId: own, kind }) => own === stepId && kind !== "call");
        run.dropWaits(stepId);
      }
      for (const wait of change.waits ?? []) run.addWait(wait);
      this.#moveOn(draft, handing, run, entry, change);
      for (const wait of change.waits ?? []) this.#catchUp(draft, handing, run, wait);
    }
    for (const batch of change.events ?? []) this.#append(draft, handing, batch);
  }

  /**
   * An event that came while the wait was on its way here is not missed. Nor is one that is being stored right now: the lock of
   * its name makes one of the two wait for the other, and what it finds then is compared with what was seen here.
   */
  #catchUp(draft: UnitDraft, handing: Handing, run: RunDraft, { kind, stepId, since, ...wait }: NewWait): void {
    if (kind !== "event" || stepId === null || since === undefined) return;
    const { environmentId, eventSequence, no } = run.run;
    const nameId = draft.words.nameId(wait.eventName);
    const recent = draft.reads.eventsSince(run.run, nameId, since);
    draft.awaitName(environmentId, wait.eventName);
    // Of more than are looked back over, the rest does not count: so it cannot have been missed either.
    if (recent.length < RECENT_EVENTS_MAX) {
      const [after, seen] = [since.sequence, recent.map(({ sequence }) => sequence)];
      draft.rows.eventsRead.push({ environment_id: environmentId, name_id: nameId, since: since.at - STORED_WITHIN_MS, after, seen });
    }
    const others = recent.filter(({ sequence }) => sequence !== eventSequence);
    const runEvent = others.length > 0 ? draft.starterOf(run) : null;
    const event = runEvent && others.find((sent) => this.#rules.matches({ ...wait, kind, stepId, runNo: no }, sent, runEvent));
    if (!event) return;
    const step = { id: stepId, status: "completed", value: this.#rules.eventValue(event) } as const;
    this.advance(draft, handing, { environmentId, runNo: no }, null, (state) => this.#rules.resolve(state, step, handing.now));
  }

  /** The entry worked on is done, tried again, or goes again; further entries are added. */
  #moveOn(draft: UnitDraft, handing: Handing, run: RunDraft, entry: HeldEntry | null, change: RunChange): void {
    const added = [...(change.entries ?? [])];
    const anew = (worked: HeldEntry, next: NewEntry) => {
      const write = entryOf(run, next, handing);
      const place = draft.place(handing, write);
      run.changeEntry(worked, { change: "anew", place, attempt: write.attempt });
      if (place.leasedBy !== null) handing.handed.push(claimed(write, worked.no, 1));
    };
    if (change.entry === "reset-attempt") {
      for (const call of run.entries) if (call.kind === "call" && call.stepId === null) run.changeEntry(call, { change: "attempt" });
    }
    if (entry && typeof change.entry === "object") {
      anew(entry, { kind: "call", stepId: entry.stepId, attempt: change.entry.attempt, dueAt: change.entry.retryAt });
    } else if (entry && change.entry === undefined) {
      const same = added.findIndex(({ kind, stepId }) => kind === entry.kind && stepId === entry.stepId);
      if (same >= 0) anew(entry, added.splice(same, 1)[0] as NewEntry);
      else if (entry.goesAgain) anew(entry, { kind: "call", stepId: entry.stepId });
      else run.removeEntries(({ no }) => no === entry.no);
    }
    for (const next of added) this.#add(draft, handing, run, next);
  }

  /**
   * There is one entry for each step of a run. A discovery that is under way is asked to go again, because it may not know of
   * what came since; any other entry that exists stays as it is.
   */
  #add(draft: UnitDraft, handing: Handing, run: RunDraft, next: NewEntry): void {
    const same = run.entries.find(({ kind, stepId }) => kind === next.kind && stepId === next.stepId);
    if (same) {
      if (same.stepId === null && same.leasedBy !== null) run.changeEntry(same, { change: "again" });
      return;
    }
    const write = entryOf(run, next, handing);
    const { no, leasedBy } = draft.addEntry(handing, write, null);
    run.noteEntry({
      no,
      kind: next.kind,
      stepId: next.stepId,
      attempt: write.attempt,
      claims: leasedBy === null ? 0 : 1,
      isHeld: leasedBy !== null,
      leasedBy,
      goesAgain: false,
    });
  }

  #tellInvoker(draft: UnitDraft, handing: Handing, { run }: RunDraft, value: { status: "completed" | "failed"; value: string }): void {
    if (!run.invoker) return;
    const { runNo, stepId } = run.invoker;
    this.advance(draft, handing, { environmentId: run.environmentId, runNo }, null, (state) =>
      this.#rules.resolve(state, { id: stepId, ...value }, handing.now),
    );
  }
}

function stateOf(draft: UnitDraft, run: RunDraft): RunState {
  return { run: run.run, steps: [...run.steps], entries: [...run.entries], events: () => draft.eventsOf(run) };
}

function entryOf({ run }: RunDraft, { kind, stepId, attempt = 0, dueAt }: NewEntry, { now }: Handing): EntryWrite {
  const { environmentId, lane, functionNo, no, createdAt } = run;
  const place = { environmentId, lane, functionNo, runNo: no, rank: createdAt, dueAt: dueAt ?? now };
  return { ...place, kind, stepId, attempt, subject: null, eventSequence: null };
}

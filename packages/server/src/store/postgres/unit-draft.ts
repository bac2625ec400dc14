/** Everything one unit is going to write, and everything that must still be so when it is written: see write-units in migrations. */

import type { EntryNo, EnvironmentId, FunctionNo, RunNo } from "@inlet/protocol";
import {
  type EntryKey,
  type MarkKey,
  type MarkWrite,
  type NewWait,
  type NewWebhookRequest,
  type RunKey,
  type StoredEvent,
  TIMER_LANE,
  toStoreText,
} from "../contract/index.ts";
import { claimed, type EntryWrite, type Handing } from "../rows/entry-writes.ts";
import { writeQuery } from "../rows/request-rows.ts";
import { boundedKey, lockNumber } from "./bounded-key.ts";
import type { KnownRun } from "./known-runs.ts";
import { RunDraft } from "./run-draft.ts";
import { type FoundWait, type ReadRun, sequencesOf } from "./run-reads.ts";
import type { UnitReads } from "./unit-reads.ts";
import { TIMER_LANE_NO, type Words } from "./words.ts";
import type { WrittenUnit } from "./write-units.ts";

export type Row = Record<string, unknown>;

/** The rows of a unit, by the parameter of write_units they go to. */
export interface UnitRows {
  runsRead: Row[];
  held: Row[];
  marksRead: Row[];
  waitsRead: Row[];
  eventsRead: Row[];
  newRuns: Row[];
  newEntries: Row[];
  newWaits: Row[];
  requests: Row[];
  runs: Row[];
  steps: Row[];
  attempts: Row[];
  calls: Row[];
  entries: Row[];
  entriesGone: Row[];
  waitsGone: Row[];
  marks: Row[];
}

export interface EventWriteRow {
  environmentId: EnvironmentId;
  id: string;
  nameId: number;
  ts: number;
  receivedAt: number;
  dedupId: string | null;
  dedupKey: string | null;
  since: number;
  sourceNo: number;
  extras: string | null;
  data: string;
  /** Events of the same batch that repeat this one. */
  repeats: number;
  mayExist: boolean;
}

export interface Place {
  laneNo: number;
  rank: number;
  dueAt: number;
  leasedBy: string | null;
}

/** A run that this unit starts. */
export interface StartedRun {
  environmentId: EnvironmentId;
  cancels: readonly NewWait[];
  /** The event that starts it, if this unit stores that too. */
  event: { number: number; event(): StoredEvent } | null;
  /** Its app is about to be called by this node. */
  isHeld: boolean;
  read(): ReadRun;
}

/** A wait that this unit begins. */
export interface OwnWait extends FoundWait {
  /** The number of the event that starts the run it belongs to, where this unit stores that event. */
  startedBy: number | null;
}

export class UnitDraft {
  readonly reads: UnitReads;
  readonly words: Words;
  readonly rows: UnitRows = {
    runsRead: [],
    held: [],
    marksRead: [],
    waitsRead: [],
    eventsRead: [],
    newRuns: [],
    newEntries: [],
    newWaits: [],
    requests: [],
    runs: [],
    steps: [],
    attempts: [],
    calls: [],
    entries: [],
    entriesGone: [],
    waitsGone: [],
    marks: [],
  };
  readonly events: EventWriteRow[] = [];
  /** Exclusive, or shared. */
  readonly locks = new Map<string, boolean>();
  /** By the lock of the name: events are appended, and a step begins to wait for events. */
  readonly namesAppended = new Set<string>();
  readonly namesAwaited = new Set<string>();
  /** Lanes that entries of this unit stand in, or go to. */
  readonly lanes = new Set<number>();
  /** Entries that nobody holds: others are to be told. */
  readonly unheld: { lane: string; dueAt: number }[] = [];
  /** Entries handed over on condition that the event with this number is no duplicate. */
  readonly handedFor = new Map<EntryNo, number>();
  /** Entries that this unit does away with: what of them was handed over is not. */
  readonly entriesGone = new Set<EntryNo>();
  /** Runs that are new or changed, for those who watch. */
  readonly changedRuns = new Set<RunNo>();
  /** Numbers of events on whose being no duplicates this draft relies. */
  readonly mustBeNew: number[] = [];
  /** What was read the first time was no longer so when it was written. */
  readonly isRepeat: boolean;
  readonly #runs = new Map<RunNo, RunDraft | null>();
  readonly #started = new Map<RunNo, StartedRun>();
  readonly #marks = new Map<string, string | null>();

  constructor(reads: UnitReads, words: Words, isRepeat: boolean) {
    this.isRepeat = isRepeat;
    this.reads = reads;
    this.words = words;
    reads.rewind();
  }

  /** The run as this unit leaves it so far; null when there is none, or it has ended. */
  run({ environmentId, runNo }: RunKey): RunDraft | null {
    const known = this.#runs.get(runNo);
    if (known !== undefined) return known?.isEnded ? null : known;
    const started = this.#started.get(runNo);
    const read = started ? started.read() : this.reads.run({ environmentId, runNo });
    const draft = read && read.run.endedAt === null ? new RunDraft(read, started !== undefined) : null;
    this.#runs.set(runNo, draft);
    if (draft && !started) this.rows.runsRead.push({ environment_id: environmentId, run_no: runNo, revision: draft.revision });
    return draft;
  }

  noteStarted(runNo: RunNo, run: StartedRun): void {
    this.#started.set(runNo, run);
  }

  /** The event that started a run. */
  starterOf({ run }: RunDraft): StoredEvent | null {
    return this.#started.get(run.no)?.event?.event() ?? this.reads.event(run.environmentId, run.eventSequence);
  }

  /** The events that started a run: several, where it is one of a batch. */
  eventsOf(run: RunDraft): StoredEvent[] {
    const started = this.#started.get(run.run.no)?.event;
    return started ? [started.event()] : this.reads.events(run.run.environmentId, sequencesOf(run));
  }

  /** What this unit makes wait for events of an environment, by their names. */
  ownWaits(environmentId: EnvironmentId): Map<string, OwnWait[]> {
    const found = new Map<string, OwnWait[]>();
    const add = (runNo: RunNo, startedBy: number | null, { eventName, match, kind, stepId, expression, expiresAt }: NewWait) => {
      const place = { path: match ? match.path : "*", key: match ? boundedKey(match.key) : "" };
      const wait = { no: 0, runNo, startedBy, kind, eventName, stepId, expression, expiresAt, ...place };
      found.set(eventName, [...(found.get(eventName) ?? []), wait]);
    };
    for (const [runNo, run] of this.#started) {
      if (run.environmentId === environmentId) for (const wait of run.cancels) add(runNo, run.event?.number ?? null, wait);
    }
    for (const [runNo, run] of this.#runs) {
      if (run?.run.environmentId === environmentId) for (const wait of run.waits) add(runNo, null, wait);
    }
    return found;
  }

  /** `event` is the number of the event, in this unit, that a new entry depends on. */
  addEntry(handing: Handing, entry: EntryWrite, event: number | null): { no: EntryNo; leasedBy: string | null } {
    const no = this.reads.nextNumber("entries") as EntryNo;
    const place = this.place(handing, entry);
    if (entry.subject !== null) this.#dropSame(entry);
    this.rows.newEntries.push({
      e: event,
      entry_no: no,
      environment_id: entry.environmentId,
      lane_no: place.laneNo,
      home_lane_no: this.words.laneNo(entry.lane, entry.environmentId),
      rank: place.rank,
      due_at: place.dueAt,
      kind: entry.kind,
      run_no: entry.runNo,
      function_no: entry.functionNo,
      step_id: entry.stepId === null ? "" : toStoreText(entry.stepId),
      attempt: entry.attempt,
      claims: place.leasedBy === null ? 0 : 1,
      leased_by: place.leasedBy,
      subject: entry.subject === null ? null : toStoreText(entry.subject),
      of_event: entry.kind === "start",
      event_no: entry.eventSequence,
    });
    if (place.leasedBy !== null) {
      handing.handed.push(claimed(entry, no, 1));
      if (event !== null) this.handedFor.set(no, event);
    }
    return { no, leasedBy: place.leasedBy };
  }

  /** A gathering that this unit has moved before: only the last place counts. */
  #dropSame({ functionNo, kind, subject }: EntryWrite): void {
    const kept = subject === null ? null : toStoreText(subject);
    const isSame = (row: Row) => row.function_no === functionNo && row.kind === kind && row.subject === kept;
    this.rows.newEntries = this.rows.newEntries.filter((row) => !isSame(row));
  }

  /** An entry of a schedule is let go, and due again. */
  comeAgain({ environmentId, no }: EntryKey, dueAt: number): void {
    const place = { lane_no: TIMER_LANE_NO, rank: dueAt, due_at: dueAt };
    this.rows.entries.push({
      environment_id: environmentId,
      entry_no: no,
      change: "anew",
      ...place,
      attempt: 0,
      claims: 0,
      leased_by: null,
    });
    this.unheld.push({ lane: TIMER_LANE, dueAt });
  }

  /** Where an entry stands, and who holds it. One that is known by its subject may exist, so it is never handed over. */
  place(handing: Handing, entry: EntryWrite): Place {
    const isDue = entry.dueAt <= handing.now;
    const lane = isDue && entry.kind === "call" ? entry.lane : TIMER_LANE;
    const lease = isDue && entry.subject === null ? handing.take(lane) : null;
    const laneNo = this.words.laneNo(lane, entry.environmentId);
    this.lanes.add(laneNo);
    this.lanes.add(this.words.laneNo(entry.lane, entry.environmentId));
    if (lease) return { laneNo, rank: lease.until, dueAt: lease.until, leasedBy: lease.node };
    this.unheld.push({ lane, dueAt: entry.dueAt });
    return { laneNo, rank: isDue ? entry.rank : entry.dueAt, dueAt: entry.dueAt, leasedBy: null };
  }

  addWait(environmentId: EnvironmentId, runNo: RunNo, wait: NewWait, event: number | null): void {
    const { eventName, match, kind, stepId, expression, expiresAt } = wait;
    this.rows.newWaits.push({
      ...{ e: event, environment_id: environmentId, event_name: toStoreText(eventName), match_path: match ? match.path : "*" },
      ...{ match_key: match ? boundedKey(match.key) : "", kind, run_no: runNo, step_id: stepId === null ? null : toStoreText(stepId) },
      ...{ expression, expires_at: expiresAt },
    });
  }

  /** Active as this unit leaves it: a run that it starts is. */
  isActive({ environmentId, runNo }: RunKey): boolean {
    const known = this.#runs.get(runNo);
    if (known !== undefined) return known !== null && !known.isEnded;
    if (this.#started.has(runNo)) return true;
    return this.reads.run({ environmentId, runNo })?.run.endedAt === null;
  }

  /** As this unit leaves it so far. What was read first must still be so when it is written. */
  readMark(environmentId: EnvironmentId, functionNo: FunctionNo, { kind, key }: MarkKey): string | null {
    const bounded = boundedKey(key);
    const place = `${functionNo} ${kind} ${bounded}`;
    const known = this.#marks.get(place);
    if (known !== undefined) return known;
    const value = this.reads.mark(environmentId, functionNo, { kind, key });
    this.locks.set(lockNumber("mark", functionNo, kind, bounded), true);
    this.rows.marksRead.push({ environment_id: environmentId, function_no: functionNo, kind, key: bounded, value });
    this.#marks.set(place, value);
    return value;
  }

  writeMark(environmentId: EnvironmentId, functionNo: FunctionNo, { kind, key, value, expiresAt }: MarkWrite): void {
    const row = { environment_id: environmentId, function_no: functionNo, kind, key: boundedKey(key), value, expires_at: expiresAt };
    this.#marks.set(`${functionNo} ${kind} ${row.key}`, value);
    const same = this.rows.marks.findIndex((other) => other.function_no === functionNo && other.kind === kind && other.key === row.key);
    if (same >= 0) this.rows.marks[same] = row;
    else this.rows.marks.push(row);
  }

  addRequest(request: NewWebhookRequest, event: number | null): void {
    this.rows.requests.push({
      ...{ e: event, environment_id: request.environmentId, webhook_id: request.webhookId, request_id: request.id },
      ...{ received_at: request.receivedAt, ip: request.ip, method: request.method, headers: request.headers },
      ...{
        query: writeQuery(request.query),
        content_type: storeText(request.contentType),
        body: storeText(request.body),
        body_base64: request.bodyBase64,
      },
      ...{ status: request.status, outcome: request.outcome, error: storeText(request.error), delivered_to: request.deliveredTo },
      ...{ transform_version: request.transformVersion, duration_ms: request.durationMs, logs: request.logs },
    });
  }

  /** Keeps steps from beginning to wait for this name until the events are committed. */
  appendName(environmentId: EnvironmentId, eventName: string): void {
    const lock = nameLock(environmentId, eventName);
    this.namesAppended.add(lock);
    this.locks.set(lock, this.locks.get(lock) ?? false);
  }

  /** Keeps events of this name from being stored until the wait is committed. */
  awaitName(environmentId: EnvironmentId, eventName: string): void {
    const lock = nameLock(environmentId, eventName);
    this.namesAwaited.add(lock);
    this.locks.set(lock, true);
  }

  /** What became of the runs, as rows. */
  finish(): void {
    for (const draft of this.#runs.values()) draft?.writeTo(this);
  }

  /** Runs as this unit left them, where all of it is known. */
  runsLeft({ firsts, sequences }: WrittenUnit): KnownRun[] {
    const left: KnownRun[] = [];
    for (const [runNo, { cancels, event, isHeld, read }] of this.#started) {
      if (!isHeld || !event || firsts.has(event.number) || this.#runs.has(runNo)) continue;
      const sequence = sequences[event.number - 1] as number;
      const { run, ...rest } = read();
      const started = { ...rest, run: { ...run, eventSequence: sequence }, hasWaits: cancels.length > 0 };
      left.push({ read: started, events: [{ ...event.event(), sequence }], steps: [] });
    }
    const { given } = this.reads;
    const draft = given && this.#runs.get(given.read.run.no);
    if (draft && !draft.isEnded) left.push({ ...given, read: draft.left(), steps: [...given.steps, ...draft.newValues()] });
    return left;
  }

  isEmpty(): boolean {
    for (const name in this.rows) if (this.rows[name as keyof UnitRows].length > 0) return false;
    return this.events.length === 0;
  }
}

const nameLocks = new Map<string, string>();
const REMEMBERED_MAX = 10_000;

/** Remembered: every event asks for the one of its name. */
export function nameLock(environmentId: EnvironmentId, eventName: string): string {
  const place = `${environmentId} ${eventName}`;
  const known = nameLocks.get(place);
  if (known !== undefined) return known;
  if (nameLocks.size >= REMEMBERED_MAX) nameLocks.clear();
  const lock = lockNumber("name", environmentId, eventName);
  nameLocks.set(place, lock);
  return lock;
}

function storeText(text: string | null): string | null {
  return text === null ? null : toStoreText(text);
}

/** Drafts a batch of events with everything that follows from them. Which of them are duplicates is found out as they are written. */

import type { EnvironmentId, EventId } from "@inlet/protocol";
import {
  type ClaimedEntry,
  type EventAppendResult,
  type EventBatch,
  type NewEvent,
  type StoredEvent,
  toStoreText,
} from "../../contract/index.ts";
import type { Handing } from "../../rows/entry-writes.ts";
import { boundedKey } from "../bounded-key.ts";
import type { ResumeRuns } from "./resume-runs.ts";
import { requestStart, startRun } from "./start-runs.ts";
import type { EventWriteRow, UnitDraft } from "./unit-draft.ts";

const REMEMBERED_MAX = 10_000;

/** What write_units says became of the events of one unit. */
export interface EventOutcome {
  /** By the event's number in the unit: the id of the event it repeats. */
  firsts: ReadonlyMap<number, string>;
  sequences: readonly number[];
}

/** For each event of a batch, the number of the row that stands for it, and whether an earlier one of the batch does. */
export type AppendedEvents = readonly { number: number; isTwin: boolean }[];

export class AppendEvents {
  readonly #resume: ResumeRuns;
  /** Names that something waited for lately: their waits are read ahead, the others only when it turns out that there are any. */
  readonly #waitedFor = new Set<string>();

  constructor(resume: ResumeRuns) {
    this.#resume = resume;
  }

  append(draft: UnitDraft, handing: Handing, batch: EventBatch): AppendedEvents {
    const sourceNo = draft.words.sourceNo(batch.source);
    const numbers = new Map<string, number>();
    const appended: { number: number; isTwin: boolean }[] = [];
    for (const event of batch.events) {
      const dedupKey = event.dedupId === null ? null : boundedKey(event.dedupId);
      const twin = (dedupKey !== null && numbers.get(`key ${dedupKey}`)) || (batch.idsFromSender && numbers.get(`id ${event.id}`));
      if (twin) {
        const row = draft.events[twin - 1];
        if (row) row.repeats++;
        appended.push({ number: twin, isTwin: true });
        continue;
      }
      const number = this.#write(draft, batch, event, sourceNo, dedupKey);
      if (dedupKey !== null) numbers.set(`key ${dedupKey}`, number);
      numbers.set(`id ${event.id}`, number);
      const starter = { number, event: () => asStored(batch, event) };
      for (const run of event.runs ?? []) startRun(draft, handing, batch.environmentId, starter, run);
      for (const start of event.starts ?? []) requestStart(draft, handing, batch.environmentId, number, start);
      appended.push({ number, isTwin: false });
    }
    for (const name of new Set(batch.events.map(({ name }) => name))) this.#meetWaits(draft, handing, batch, name, appended);
    this.#meetOwnWaits(draft, handing, batch, appended);
    if (batch.webhookRequest) draft.addRequest(batch.webhookRequest, appended[0]?.number ?? null);
    return appended;
  }

  #write(draft: UnitDraft, batch: EventBatch, event: NewEvent, sourceNo: number, dedupKey: string | null): number {
    const { environmentId, receivedAt, duplicateSince: since, idsFromSender: mayExist } = batch;
    const { id, ts, extras, data } = event;
    const dedupId = event.dedupId === null ? null : toStoreText(event.dedupId);
    const words = { nameId: draft.words.nameId(event.name), sourceNo };
    return draft.events.push({ environmentId, id, ...words, ts, receivedAt, dedupId, dedupKey, since, extras, data, repeats: 0, mayExist });
  }

  /** The lock of the name keeps a step from beginning to wait for it unseen until these events are committed. */
  #meetWaits(draft: UnitDraft, handing: Handing, batch: EventBatch, name: string, appended: AppendedEvents): void {
    const { environmentId } = batch;
    const place = `${environmentId} ${name}`;
    draft.appendName(environmentId, name);
    const waits = draft.isRepeat || this.#waitedFor.has(place) ? draft.reads.waits(environmentId, name) : [];
    this.#note(place, waits.length > 0);
    draft.rows.waitsRead.push({ environment_id: environmentId, event_name: toStoreText(name), seen: waits.map(({ no }) => no) });
    if (waits.length === 0) return;
    for (const [index, event] of batch.events.entries()) {
      const { number = 0, isTwin = true } = appended[index] ?? {};
      if (event.name === name && !isTwin && this.#isNew(draft, number)) this.#resume.resume(draft, handing, environmentId, event, waits);
    }
  }

  /** What this unit itself makes wait is met too: runs that earlier events of the batch start, for instance. */
  #meetOwnWaits(draft: UnitDraft, handing: Handing, batch: EventBatch, appended: AppendedEvents): void {
    const own = draft.ownWaits(batch.environmentId);
    if (own.size === 0) return;
    for (const [index, event] of batch.events.entries()) {
      const { number = 0, isTwin = true } = appended[index] ?? {};
      const waits = isTwin ? [] : (own.get(event.name) ?? []).filter(({ startedBy }) => startedBy === null || startedBy < number);
      if (waits.length === 0 || !this.#isNew(draft, number)) continue;
      const there = waits.filter(({ startedBy }) => startedBy === null || this.#isNew(draft, startedBy));
      this.#resume.resume(draft, handing, batch.environmentId, event, there);
    }
  }

  /** Duplicates resume nothing. Should the event turn out to be one as it is written, everything is planned again. */
  #isNew(draft: UnitDraft, number: number): boolean {
    const { environmentId, id, dedupKey, since, mayExist } = draft.events[number - 1] as EventWriteRow;
    if (dedupKey === null && !mayExist) return true;
    if (draft.reads.isRepeated(environmentId, id, dedupKey, since, mayExist)) return false;
    draft.mustBeNew.push(number);
    return true;
  }

  /** As far as this node remembers. */
  isWaitedFor(environmentId: EnvironmentId, name: string): boolean {
    return this.#waitedFor.size > 0 && this.#waitedFor.has(`${environmentId} ${name}`);
  }

  noteWaitedFor(environmentId: EnvironmentId, name: string): void {
    this.#note(`${environmentId} ${name}`, true);
  }

  #note(place: string, isWaitedFor: boolean): void {
    if (!isWaitedFor) return void this.#waitedFor.delete(place);
    if (this.#waitedFor.size >= REMEMBERED_MAX) this.#waitedFor.clear();
    this.#waitedFor.add(place);
  }
}

/** As it will be read once it is stored; its place there is not known yet. */
export function asStored({ environmentId, receivedAt, source }: EventBatch, event: NewEvent, sequence = 0): StoredEvent {
  const { id, name, ts, dedupId, data, extras } = event;
  return { id, name, ts, dedupId, data, extras, sequence, environmentId, receivedAt, source, duplicates: 0 };
}

/** What the sender is told, and what this node now holds. */
export function appendResult(
  batch: EventBatch,
  appended: AppendedEvents,
  outcome: EventOutcome,
  isWrittenAgain: boolean,
): Omit<EventAppendResult, "handed"> {
  const ids: EventId[] = [];
  let duplicates = 0;
  for (const [index, { number, isTwin }] of appended.entries()) {
    const own = batch.events[isTwin ? appended.findIndex((other) => other.number === number) : index]?.id as EventId;
    const first = outcome.firsts.get(number) as EventId | undefined;
    ids.push(first ?? own);
    if (isTwin || (first !== undefined && !(isWrittenAgain && first === own && !batch.idsFromSender))) duplicates++;
  }
  return { ids, duplicates };
}

/** Entries of events that turned out to be duplicates were not written; the others learn their event's place. */
export function handedEntries(draft: UnitDraft, handing: Handing, { firsts, sequences }: EventOutcome): ClaimedEntry[] {
  return handing.handed.flatMap((entry) => {
    if (draft.entriesGone.has(entry.no)) return [];
    const number = draft.handedFor.get(entry.no);
    if (number === undefined) return [entry];
    if (firsts.has(number)) return [];
    return [entry.kind === "start" ? { ...entry, eventSequence: sequences[number - 1] ?? null } : entry];
  });
}

/**
 * Events from which nothing follows: they start no run, and nobody waits for their names. That is most of them, so they take a short
 * way: no draft, and one call of write_plain_events for all that came meanwhile.
 *
 * Whatever turns out not to be plain after all, and whatever goes wrong, is left to the long way, which knows what to do: nothing
 * was written then, or, if the answer was lost, it can tell.
 */

import type { EnvironmentId, EventId } from "@inlet/protocol";
import { type EventAppendResult, type EventBatch, StoreUnavailable, toStoreText } from "../contract/index.ts";
import type { AppendEvents } from "./append-events.ts";
import { bigintArray, integerArray, textArray } from "./binary-arrays.ts";
import { boundText } from "./bounded-key.ts";
import type { Database } from "./database.ts";
import { isOutcomeUnknown, serverFault } from "./failures.ts";
import { nameLock } from "./unit-draft.ts";
import type { Words } from "./words.ts";

const GROUP_ROWS_MAX = 2_000;
const GROUPS_AT_ONCE = 2;
const CALL = "SELECT * FROM write_plain_events($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)";

interface Answer {
  /** Numbers of names that somebody waits for: nothing was written. */
  awaited: number[] | null;
  /** Numbers of events that were not stored, and the ids of those they repeat. */
  repeated: number[];
  firsts: string[];
}

interface Waiting {
  batch: EventBatch;
  sourceNo: number;
  resolve(result: EventAppendResult | Promise<EventAppendResult>): void;
  reject(error: unknown): void;
}

export interface PlainEventsParts {
  database: Database;
  words: Words;
  events: AppendEvents;
  onCommit(): void;
  /** The long way. `wasLost`: it may be stored already, for nobody heard the answer. */
  appendOtherwise(batch: EventBatch, wasLost: boolean): Promise<EventAppendResult>;
}

export class PlainEvents {
  readonly #parts: PlainEventsParts;
  #waiting: Waiting[] = [];
  #rows = 0;
  /** Rows of each group under way. */
  readonly #underWay: number[] = [];
  #isScheduled = false;
  #isStopped = false;
  #whenIdle: (() => void) | null = null;

  constructor(parts: PlainEventsParts) {
    this.#parts = parts;
  }

  /** Null when the batch has to go the long way. */
  append(batch: EventBatch): Promise<EventAppendResult> | null {
    const sourceNo = this.#parts.words.knownSourceNo(batch.source);
    if (this.#isStopped || sourceNo === undefined || batch.webhookRequest || !this.#isPlain(batch)) return null;
    return new Promise((resolve, reject) => {
      this.#waiting.push({ batch, sourceNo, resolve, reject });
      this.#rows += batch.events.length;
      this.#schedule();
    });
  }

  /** Takes nothing more, and resolves when all that was appended is written, or was left to the long way. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    if (!this.#isIdle()) await new Promise<void>((resolve) => (this.#whenIdle = resolve));
  }

  #isIdle(): boolean {
    return this.#waiting.length === 0 && this.#underWay.length === 0;
  }

  #isPlain({ environmentId, events }: EventBatch): boolean {
    const { words, events: appended } = this.#parts;
    for (const { runs, starts, name } of events) {
      if ((runs && runs.length > 0) || (starts && starts.length > 0)) return false;
      if (words.knownNameId(name) === undefined || appended.isWaitedFor(environmentId, name)) return false;
    }
    return true;
  }

  #schedule(): void {
    if (this.#isScheduled || !this.#isWorthwhile()) return;
    this.#isScheduled = true;
    setImmediate(() => {
      this.#isScheduled = false;
      if (!this.#isWorthwhile()) return;
      const { group, rows } = this.#nextGroup();
      this.#underWay.push(rows);
      void this.#write(group).then(() => {
        this.#underWay.splice(this.#underWay.indexOf(rows), 1);
        this.#schedule();
        if (this.#isIdle()) this.#whenIdle?.();
      });
      this.#schedule();
    });
  }

  /** A second group sets out while the first is under way, but not with less: small groups cost as much as large ones. */
  #isWorthwhile(): boolean {
    if (this.#waiting.length === 0 || this.#underWay.length >= GROUPS_AT_ONCE) return false;
    return this.#underWay.every((rows) => this.#rows >= rows);
  }

  #nextGroup(): { group: Waiting[]; rows: number } {
    let [count, rows] = [0, 0];
    for (; count < this.#waiting.length && rows < GROUP_ROWS_MAX; count++) rows += this.#waiting[count]?.batch.events.length ?? 0;
    this.#rows -= rows;
    return { group: this.#waiting.splice(0, count), rows };
  }

  async #write(group: readonly Waiting[]): Promise<void> {
    try {
      const columns = new Columns(this.#parts.words);
      for (const { batch, sourceNo } of group) columns.add(batch, sourceNo);
      const [answer] = await this.#parts.database.query<Answer>(CALL, columns.parameters());
      if (!answer) throw new Error("write_plain_events did not answer");
      if (answer.awaited) this.#leave(group, columns.places(answer.awaited));
      else this.#succeed(group, answer);
    } catch (error) {
      this.#fail(group, error);
    }
  }

  #succeed(group: readonly Waiting[], { repeated, firsts }: Answer): void {
    this.#parts.onCommit();
    const firstOf = new Map(repeated.map((number, index) => [number, firsts[index] as EventId]));
    let number = 0;
    for (const { batch, resolve } of group) {
      let duplicates = 0;
      const ids = batch.events.map(({ id }) => {
        const first = firstOf.get(++number);
        if (first !== undefined) duplicates++;
        return first ?? id;
      });
      resolve({ ids, duplicates, handed: [] });
    }
  }

  #leave(group: readonly Waiting[], awaited: readonly Place[]): void {
    for (const { environmentId, name } of awaited) this.#parts.events.noteWaitedFor(environmentId, name);
    for (const { batch, resolve } of group) resolve(this.#parts.appendOtherwise(batch, false));
  }

  #fail(group: readonly Waiting[], error: unknown): void {
    const cause = error instanceof StoreUnavailable ? error.cause : error;
    const wasLost = isOutcomeUnknown(cause);
    for (const { batch, resolve, reject } of group) {
      if (serverFault(cause) !== null && !wasLost) reject(error);
      else resolve(this.#parts.appendOtherwise(batch, wasLost));
    }
  }
}

interface Place {
  environmentId: EnvironmentId;
  name: string;
}

/** The events of a group, column by column. */
class Columns {
  readonly #words: Words;
  readonly #places = new Map<EnvironmentId, Set<string>>();
  readonly #environment: number[] = [];
  readonly #id: string[] = [];
  readonly #name: number[] = [];
  readonly #ts: number[] = [];
  readonly #received: number[] = [];
  readonly #source: number[] = [];
  readonly #extras: (string | null)[] = [];
  readonly #data: string[] = [];
  readonly #dedup: (string | null)[] = [];
  readonly #since: number[] = [];

  constructor(words: Words) {
    this.#words = words;
  }

  add({ environmentId, receivedAt, duplicateSince, events }: EventBatch, sourceNo: number): void {
    const names = this.#places.get(environmentId) ?? new Set();
    this.#places.set(environmentId, names);
    for (const { id, name, ts, extras, data, dedupId } of events) {
      names.add(name);
      this.#environment.push(environmentId);
      this.#id.push(id);
      this.#name.push(this.#words.nameId(name));
      this.#ts.push(ts);
      this.#received.push(receivedAt);
      this.#source.push(sourceNo);
      this.#extras.push(extras);
      this.#data.push(data);
      this.#dedup.push(dedupId);
      this.#since.push(duplicateSince);
    }
  }

  /** The names with these numbers. */
  places(numbers: readonly number[]): Place[] {
    const places = this.#allPlaces();
    return numbers.flatMap((number) => places[number - 1] ?? []);
  }

  parameters(): unknown[] {
    const places = this.#allPlaces();
    return [
      inOrder(places.map(({ environmentId, name }) => BigInt(nameLock(environmentId, name)))),
      integerArray(places.map(({ environmentId }) => environmentId)),
      textArray(places.map(({ name }) => toStoreText(name))),
      integerArray(this.#environment),
      textArray(this.#id),
      integerArray(this.#name),
      bigintArray(this.#ts),
      bigintArray(this.#received),
      integerArray(this.#source),
      this.#extras.some(isThere) ? textArray(this.#extras) : null,
      textArray(this.#data),
      ...(this.#dedup.some(isThere) ? this.#dedupParameters() : [null, null, null]),
    ];
  }

  #dedupParameters(): Buffer[] {
    const kept = this.#dedup.map((id) => (id === null ? null : toStoreText(id)));
    return [textArray(kept), textArray(kept.map((id) => (id === null ? null : boundText(id)))), bigintArray(this.#since)];
  }

  #allPlaces(): Place[] {
    return [...this.#places].flatMap(([environmentId, names]) => [...names].map((name) => ({ environmentId, name })));
  }
}

function isThere(value: string | null): boolean {
  return value !== null;
}

/** In the order of their numbers, as every node takes them. */
function inOrder(locks: readonly bigint[]): bigint[] {
  return locks.toSorted((a, b) => (a < b ? -1 : a > b ? 1 : 0));
}

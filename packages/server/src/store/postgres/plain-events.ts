/**
 * Events from which nothing follows: they start no run, and nobody waits for their names. That is most of them, so they take a short
 * way: no draft, and one call of write_plain_events for all that came meanwhile.
 *
 * Whatever turns out not to be plain after all, and whatever goes wrong, is left to the long way, which knows what to do: nothing
 * was written then, or, if the answer was lost, it can tell.
 */

import type { EventId } from "@inlet/protocol";
import { type EventAppendResult, type EventBatch, StoreUnavailable } from "../contract/index.ts";
import type { AppendEvents } from "./append-events.ts";
import type { Database } from "./database.ts";
import { Departures } from "./departures.ts";
import { EventColumns, type NamePlace } from "./event-columns.ts";
import { isOutcomeUnknown, serverFault } from "./failures.ts";
import type { Words } from "./words.ts";

const GROUP_ROWS_MAX = 2_000;
const CALL = "SELECT write_plain_events($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14) AS outcome";

/** What write_plain_events has to say, if anything. */
type Outcome =
  /** Numbers of names that somebody waits for: nothing was stored. */
  | { awaited: number[] }
  /** Numbers of events that were not stored, and the ids of those they repeat. */
  | { repeated: number[]; firsts: EventId[] };
const NONE_REPEATED: Outcome = { repeated: [], firsts: [] };

interface Waiting {
  batch: EventBatch;
  sourceNo: number;
  resolve(result: EventAppendResult | Promise<EventAppendResult>): void;
  reject(error: unknown): void;
}

/** `wasLost`: it may be stored already, for nobody heard the answer. */
export type AppendOtherwise = (batch: EventBatch, wasLost: boolean) => Promise<EventAppendResult>;

export interface PlainEventsParts {
  database: Database;
  words: Words;
  events: AppendEvents;
  onCommit(): void;
  /** The long way. */
  appendOtherwise: AppendOtherwise;
}

export class PlainEvents {
  readonly #parts: PlainEventsParts;
  #waiting: Waiting[] = [];
  #rows = 0;
  readonly #departures = new Departures({ waiting: () => this.#rows, depart: () => this.#depart() });
  #isStopped = false;

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
      this.#departures.schedule();
    });
  }

  /** Takes nothing more, and resolves when all that was appended is written, or was left to the long way. */
  stop(): Promise<void> {
    this.#isStopped = true;
    return this.#departures.idle();
  }

  #isPlain({ environmentId, events }: EventBatch): boolean {
    const { words, events: appended } = this.#parts;
    for (const { runs, starts, name } of events) {
      if ((runs && runs.length > 0) || (starts && starts.length > 0)) return false;
      if (words.knownNameId(name) === undefined || appended.isWaitedFor(environmentId, name)) return false;
    }
    return events.length > 0;
  }

  #depart(): { rows: number; arrived: Promise<void> } {
    let [count, rows] = [0, 0];
    for (; count < this.#waiting.length && rows < GROUP_ROWS_MAX; count++) rows += this.#waiting[count]?.batch.events.length ?? 0;
    this.#rows -= rows;
    return { rows, arrived: this.#write(this.#waiting.splice(0, count)) };
  }

  async #write(group: readonly Waiting[]): Promise<void> {
    const columns = new EventColumns(this.#parts.words);
    let outcome: Outcome;
    try {
      for (const { batch, sourceNo } of group) columns.add(batch, sourceNo);
      const [answer] = await this.#parts.database.query<{ outcome: Outcome | null }>(CALL, columns.parameters());
      outcome = answer?.outcome ?? NONE_REPEATED;
    } catch (error) {
      return this.#fail(group, error);
    }
    if ("awaited" in outcome) return this.#leave(group, columns.places(outcome.awaited));
    const { repeated, firsts } = outcome;
    this.#succeed(group, new Map(repeated.map((number, index) => [number, firsts[index] as EventId])));
  }

  #succeed(group: readonly Waiting[], firstOf: ReadonlyMap<number, EventId>): void {
    this.#parts.onCommit();
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

  #leave(group: readonly Waiting[], awaited: readonly NamePlace[]): void {
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

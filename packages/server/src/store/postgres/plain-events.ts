/**
 * Events for whose names nobody waits, and which start runs or nothing at all. That is most of them, so they take a short way: no draft, and
 * one call of write_plain_events, or of write_starting_events, for all that came meanwhile.
 *
 * Whatever turns out not to be plain after all, and whatever goes wrong, is left to the long way, which knows what to do: nothing
 * was written then, or, if the answer was lost, it can tell.
 */

import type { EventId } from "@inlet/protocol";
import type { QueryResultRow } from "pg";
import { type EntryKey, type EventAppendResult, type EventBatch, StoreUnavailable } from "../contract/index.ts";
import { Handing } from "../rows/entry-writes.ts";
import type { AppendEvents } from "./append-events.ts";
import type { Database } from "./database.ts";
import { Departures } from "./departures.ts";
import { EventColumns, type NamePlace } from "./event-columns.ts";
import { isCollision, isOutcomeUnknown, serverFault } from "./failures.ts";
import type { KnownRuns } from "./known-runs.ts";
import type { NumberBlocks, Numbered } from "./number-blocks.ts";
import { isPlainStart, RunColumns, type WrittenRuns } from "./run-columns.ts";
import type { Words } from "./words.ts";

const GROUP_ROWS_MAX = 2_000;
const WRITE = "SELECT write_plain_events($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14) AS outcome";
/** Numbers that follow each other, as they do unless other nodes take some at the same time, are told by the first. */
const START = `
  SELECT awaited, repeated, firsts,
         CASE WHEN sequences[cardinality(sequences)] = sequences[1] + cardinality(sequences) - 1 THEN sequences[1:1] ELSE sequences END AS sequences
  FROM write_starting_events(${Array.from({ length: 24 }, (_, n) => `$${n + 1}`).join(", ")})`;

/** What became of a group. */
interface Outcome {
  /** Numbers of names that somebody waits for: then nothing was stored. */
  awaited?: readonly number[] | null;
  /** Numbers of events that were not stored, and the ids of those they repeat. */
  repeated?: readonly number[];
  firsts?: readonly EventId[] | null;
  /** Of all events, where any starts a run; or of the first, if those of the others follow it. */
  sequences?: readonly number[];
}

interface Waiting {
  batch: EventBatch;
  sourceNo: number;
  /** How many its events start. */
  runs: number;
  resolve(result: EventAppendResult | Promise<EventAppendResult>): void;
  reject(error: unknown): void;
}

/** `wasLost`: it may be stored already, for nobody heard the answer. */
export type AppendOtherwise = (batch: EventBatch, wasLost: boolean) => Promise<EventAppendResult>;

export interface PlainEventsParts {
  database: Database;
  words: Words;
  blocks: Record<Numbered, NumberBlocks>;
  events: AppendEvents;
  known: KnownRuns;
  onCommit(started: Pick<WrittenRuns, "runNos" | "unheld">): void;
  /** Entries that may be held in this node's name although it was never told so. */
  noteLost(entries: readonly EntryKey[]): void;
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
    const runs = this.#isStopped || sourceNo === undefined || batch.webhookRequest ? null : this.#plainRuns(batch);
    if (sourceNo === undefined || runs === null) return null;
    return new Promise((resolve, reject) => {
      this.#waiting.push({ batch, sourceNo, runs, resolve, reject });
      this.#rows += batch.events.length + runs;
      this.#departures.schedule();
    });
  }

  /** Takes nothing more, and resolves when all that was appended is written, or was left to the long way. */
  stop(): Promise<void> {
    this.#isStopped = true;
    return this.#departures.idle();
  }

  /** How many runs the events start; null when more than that follows from them. */
  #plainRuns({ environmentId, receivedAt, events }: EventBatch): number | null {
    const { words, blocks, events: appended } = this.#parts;
    if (events.length === 0) return null;
    let count = 0;
    for (const { runs, starts, name } of events) {
      if ((starts && starts.length > 0) || words.knownNameId(name) === undefined || appended.isWaitedFor(environmentId, name)) return null;
      if (!runs) continue;
      for (const run of runs) if (!isPlainStart(run, receivedAt) || words.knownLaneNo(run.lane) === undefined) return null;
      count += runs.length;
    }
    // Others that wait draw numbers too; and what cannot have one after all takes the long way.
    return count === 0 || (blocks.runs.has(count) && blocks.entries.has(count)) ? count : null;
  }

  #depart(): { rows: number; arrived: Promise<void> } {
    let [count, rows] = [0, 0];
    for (; count < this.#waiting.length && rows < GROUP_ROWS_MAX; count++) {
      const { batch, runs } = this.#waiting[count] as Waiting;
      rows += batch.events.length + runs;
    }
    this.#rows -= rows;
    return { rows, arrived: this.#write(this.#waiting.splice(0, count)) };
  }

  async #write(group: readonly Waiting[]): Promise<void> {
    const columns = new EventColumns(this.#parts.words);
    const runs = new RunColumns(this.#parts);
    let outcome: Outcome;
    try {
      for (const { batch, sourceNo } of group) columns.add(batch, sourceNo);
      addRuns(runs, group);
      outcome = await this.#call(columns, runs);
    } catch (error) {
      return this.#fail(group, runs, error);
    }
    const { awaited, repeated = [], firsts, sequences = [] } = outcome;
    if (awaited) return this.#leave(group, columns.places(awaited));
    const firstOf = new Map(repeated.map((number, index) => [number, firsts?.[index] as EventId]));
    this.#succeed(group, firstOf, runs.written(firstOf, sequences));
  }

  async #call(columns: EventColumns, runs: RunColumns): Promise<Outcome> {
    const { database } = this.#parts;
    if (!runs.isEmpty) {
      const [answer] = await database.query<Outcome & QueryResultRow>(START, [...columns.parameters(), ...runs.parameters()]);
      return answer ?? {};
    }
    const [answer] = await database.query<{ outcome: Outcome | null }>(WRITE, columns.parameters());
    return answer?.outcome ?? {};
  }

  #succeed(group: readonly Waiting[], firstOf: ReadonlyMap<number, EventId>, started: WrittenRuns): void {
    this.#parts.onCommit(started);
    for (const run of started.known) this.#parts.known.keep(run);
    let number = 0;
    for (const { batch, resolve } of group) {
      let duplicates = 0;
      const ids = batch.events.map(({ id }) => {
        const first = firstOf.get(++number);
        if (first !== undefined) duplicates++;
        return first ?? id;
      });
      resolve({ ids, duplicates, handed: started.handed.get(batch) ?? [] });
    }
  }

  #leave(group: readonly Waiting[], awaited: readonly NamePlace[]): void {
    for (const { environmentId, name } of awaited) this.#parts.events.noteWaitedFor(environmentId, name);
    for (const { batch, resolve } of group) resolve(this.#parts.appendOtherwise(batch, false));
  }

  #fail(group: readonly Waiting[], runs: RunColumns, error: unknown): void {
    const cause = error instanceof StoreUnavailable ? error.cause : error;
    const wasLost = isOutcomeUnknown(cause);
    if (isCollision(cause)) this.#parts.words.forgetLanes();
    if (serverFault(cause) !== null && !wasLost) {
      for (const { reject } of group) reject(error);
      return;
    }
    const otherwise = group.map(({ batch, resolve }) => {
      const appended = this.#parts.appendOtherwise(batch, wasLost);
      resolve(appended);
      return appended;
    });
    // Who writes the same again waits for the end of the first time: then it is known what of it is there to be let go.
    if (wasLost) void Promise.allSettled(otherwise).then(() => this.#parts.noteLost(runs.takenEntries()));
  }
}

function addRuns(columns: RunColumns, group: readonly Waiting[]): void {
  let number = 0;
  for (const { batch, runs } of group) {
    if (runs > 0) {
      const handing = new Handing(batch.receivedAt, batch.lease);
      for (const [index, event] of batch.events.entries()) {
        for (const run of event.runs ?? []) columns.add(batch, event, number + index + 1, run, handing);
      }
    }
    number += batch.events.length;
  }
}

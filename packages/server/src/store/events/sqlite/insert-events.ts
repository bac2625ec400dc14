/**
 * Writes the rows of a batch of events, many with one statement. Rows are buffered until there are enough of them, until the batch ends,
 * or until a query has to find them in the table.
 */

import type { DatabaseSync, SQLInputValue, StatementSync } from "node:sqlite";

/** In the order of the table's columns. */
export type EventRowValues = [
  environmentId: number,
  eventId: string,
  nameId: number,
  ts: number,
  receivedAt: number,
  dedupId: string | null,
  sourceNo: number,
  matched: 0 | 1,
  trace: string | null,
  sourceRunId: string | null,
  extras: string | null,
  schemaErrors: string | null,
  data: string,
];

/** Batch sizes of the prepared statements, largest first. */
const SIZES = [20, 5, 1] as const;
const VALUES_PER_ROW = 14;

export class InsertEvents {
  readonly #lastSequence: StatementSync;
  readonly #noteMatched: StatementSync;
  readonly #statements: readonly { rows: number; insert: StatementSync }[];
  readonly #waiting: SQLInputValue[] = [];
  /** Null: not looked up yet. */
  #sequence: number | null = null;

  constructor(db: DatabaseSync) {
    this.#lastSequence = db.prepare("SELECT max(sequence) AS last FROM events");
    this.#noteMatched = db.prepare("UPDATE events SET matched = 1 WHERE sequence = ? AND matched = 0");
    this.#statements = SIZES.map((rows) => ({ rows, insert: db.prepare(insertOf(rows)) }));
  }

  /** Returns the event's sequence number. */
  add(...values: EventRowValues): number {
    this.#sequence ??= (this.#lastSequence.get()?.last as number | null) ?? 0;
    this.#waiting.push(++this.#sequence, ...values);
    if (this.#waiting.length === SIZES[0] * VALUES_PER_ROW) this.flush();
    return this.#sequence;
  }

  /** After this, every event is in the table. */
  flush(): void {
    const values = this.#waiting;
    let written = 0;
    for (const { rows, insert } of this.#statements) {
      const length = rows * VALUES_PER_ROW;
      for (; values.length - written >= length; written += length) insert.run(...values.slice(written, written + length));
    }
    values.length = 0;
  }

  /** Notes that an event started a function, or resumed a run, after the event was stored. */
  noteMatched(sequence: number): void {
    if (this.#waiting.length > 0) this.flush();
    this.#noteMatched.run(sequence);
  }

  /** Discards rows of a transaction that was rolled back. */
  forget(): void {
    this.#waiting.length = 0;
    this.#sequence = null;
  }
}

function insertOf(rows: number): string {
  const row = `(${Array(VALUES_PER_ROW).fill("?").join(", ")})`;
  return `
    INSERT INTO events (
      sequence, environment_id, event_id, name_id, ts, received_at, dedup_id, source_no, matched, trace, source_run_id, extras,
      schema_errors, data)
    VALUES ${Array(rows).fill(row).join(", ")}`;
}

/**
 * The numbers that stand for event names and sources in the events table, remembered. They are added in statements of their own, ahead
 * of the transaction that needs them, and never removed: so what is remembered stays true whatever becomes of other transactions.
 */

import { type EventBatch, type EventSource, toStoreText } from "../../contract/index.ts";
import type { Database } from "../database.ts";

/** Names may be as many as a sender likes to invent. */
const REMEMBERED_MAX = 10_000;

/** Looked for first, so that numbers are not used up by what is there. */
const NAMES = "SELECT name, name_id AS no FROM event_names WHERE name = ANY ($1::text[])";
const ADD_NAMES = "INSERT INTO event_names (name) SELECT name FROM unnest($1::text[]) AS name ORDER BY name ON CONFLICT DO NOTHING";
const SOURCE = "SELECT source_no AS no FROM event_sources WHERE source_kind = $1 AND source_id = $2";
const ADD_SOURCE = "INSERT INTO event_sources (source_kind, source_id) VALUES ($1, $2) ON CONFLICT DO NOTHING";

export class EventWords {
  readonly #database: Database;
  readonly #names = new Map<string, number>();
  readonly #sources = new Map<string, number>();

  constructor(database: Database) {
    this.#database = database;
  }

  /** From here on every name and source of these batches has a number. */
  async ensure(batches: readonly EventBatch[]): Promise<void> {
    const names = new Set(batches.flatMap(({ events }) => events.map(({ name }) => name)));
    const unknown = [...names].filter((name) => !this.#names.has(name));
    if (this.#names.size + unknown.length > REMEMBERED_MAX) this.#names.clear();
    const missing = [...names].filter((name) => !this.#names.has(name));
    if (missing.length > 0) await this.#learnNames(missing);
    for (const { source } of batches) if (!this.#sources.has(sourceKey(source))) await this.#learnSource(source);
  }

  nameId(name: string): number {
    return this.#names.get(name) as number;
  }

  sourceNo(source: EventSource): number {
    return this.#sources.get(sourceKey(source)) as number;
  }

  /** Null when no event of this name was ever stored. */
  async findNameId(name: string): Promise<number | null> {
    const [row] = await this.#database.query<{ no: number }>(NAMES, [[toStoreText(name)]]);
    return row?.no ?? null;
  }

  async #learnNames(names: readonly string[]): Promise<void> {
    const read = async () => {
      const rows = await this.#database.query<{ name: string; no: number }>(NAMES, [names.map(toStoreText)]);
      return new Map(rows.map(({ name, no }) => [name, no]));
    };
    let numbers = await read();
    const missing = names.map(toStoreText).filter((name) => !numbers.has(name));
    if (missing.length > 0) {
      await this.#database.query(ADD_NAMES, [missing]);
      numbers = await read();
    }
    for (const name of names) this.#names.set(name, numbers.get(toStoreText(name)) as number);
  }

  async #learnSource(source: EventSource): Promise<void> {
    const values = [source.kind, source.id];
    let [row] = await this.#database.query<{ no: number }>(SOURCE, values);
    if (!row) {
      await this.#database.query(ADD_SOURCE, values);
      [row] = await this.#database.query<{ no: number }>(SOURCE, values);
    }
    if (this.#sources.size >= REMEMBERED_MAX) this.#sources.clear();
    this.#sources.set(sourceKey(source), (row as { no: number }).no);
  }
}

function sourceKey({ kind, id }: EventSource): string {
  return `${kind} ${id}`;
}

/**
 * The numbers that stand for event names, sources and lanes, remembered. A word is added in a transaction of its own, ahead of
 * what needs it, so what is remembered stays true whatever becomes of other transactions. Names and sources are never removed;
 * lanes may be, and who writes entries finds out (see write_units).
 */

import { type EventSource, fromStoreText, TIMER_LANE, toStoreText } from "../contract/index.ts";
import type { Database } from "./database.ts";
import { NotRead } from "./not-read.ts";

/** Names and lanes may be as many as senders like to invent. */
/** The first row of the table, which is never removed. */
export const TIMER_LANE_NO = 1;
const REMEMBERED_MAX = 20_000;

export class Words {
  readonly #database: Database;
  readonly #names = new Map<string, number>();
  readonly #sources = new Map<string, number>();
  readonly #lanes = new Map<string, number>();
  readonly #laneKeys = new Map<number, string>();
  readonly #adding = new Map<string, Promise<void>>();

  constructor(database: Database) {
    this.#database = database;
  }

  /** Undefined when it is not remembered. */
  knownNameId(name: string): number | undefined {
    return this.#names.get(name);
  }

  nameId(name: string): number {
    return this.#names.get(name) ?? this.#notRead(`name ${name}`, () => this.#addName(name));
  }

  /** Undefined when it is not remembered. */
  knownSourceNo({ kind, id }: EventSource): number | undefined {
    return this.#sources.get(`${kind} ${id}`);
  }

  sourceNo(source: EventSource): number {
    return this.knownSourceNo(source) ?? this.#notRead(`source ${source.kind} ${source.id}`, () => this.#addSource(source));
  }

  /** Undefined when it is not remembered. */
  knownLaneNo(key: string): number | undefined {
    return key === TIMER_LANE ? TIMER_LANE_NO : this.#lanes.get(key);
  }

  laneNo(key: string): number {
    return this.knownLaneNo(key) ?? this.#notRead(`lane ${key}`, () => this.#addLane(key));
  }

  /** Some lane that is remembered is no more. */
  forgetLanes(): void {
    this.#lanes.clear();
    this.#laneKeys.clear();
  }

  /** The lanes with these numbers; all of them exist. */
  async laneKeys(numbers: readonly number[]): Promise<Map<number, string>> {
    const unknown = [...new Set(numbers)].filter((no) => !this.#laneKeys.has(no));
    if (unknown.length > 0) {
      const rows = await this.#database.query<{ lane_no: number; key: string }>("SELECT lane_no, key FROM lanes WHERE lane_no = ANY ($1)", [
        unknown,
      ]);
      for (const { lane_no, key } of rows) this.#rememberLane(fromStoreText(key), lane_no);
    }
    return this.#laneKeys;
  }

  /** Those who ask for the same word at the same time share one look. */
  #notRead(word: string, add: () => Promise<void>): never {
    throw new NotRead(() => {
      const pending = this.#adding.get(word) ?? add().finally(() => this.#adding.delete(word));
      this.#adding.set(word, pending);
      return pending;
    });
  }

  async #addName(name: string): Promise<void> {
    const id = await this.#findOrAdd(
      "SELECT name_id AS no FROM event_names WHERE name = $1",
      "INSERT INTO event_names (name) VALUES ($1) ON CONFLICT DO NOTHING RETURNING name_id AS no",
      [toStoreText(name)],
    );
    remember(this.#names, name, id);
  }

  async #addSource({ kind, id }: EventSource): Promise<void> {
    const no = await this.#findOrAdd(
      "SELECT source_no AS no FROM event_sources WHERE source_kind = $1 AND source_id = $2",
      "INSERT INTO event_sources (source_kind, source_id) VALUES ($1, $2) ON CONFLICT DO NOTHING RETURNING source_no AS no",
      [kind, id],
    );
    remember(this.#sources, `${kind} ${id}`, no);
  }

  async #addLane(key: string): Promise<void> {
    const no = await this.#findOrAdd(
      "SELECT lane_no AS no FROM lanes WHERE md5(key) = md5($1::text) AND key = $1",
      "INSERT INTO lanes (key) VALUES ($1) ON CONFLICT DO NOTHING RETURNING lane_no AS no",
      [toStoreText(key)],
    );
    this.#rememberLane(key, no);
  }

  /** Looked for first, so that the numbers are not used up by what is there. Another node may add the same word meanwhile. */
  async #findOrAdd(find: string, add: string, values: readonly string[]): Promise<number> {
    for (;;) {
      const [row] = await this.#database.query<{ no: number }>(find, values);
      const [added] = row ? [row] : await this.#database.query<{ no: number }>(add, values);
      if (added) return added.no;
    }
  }

  #rememberLane(key: string, no: number): void {
    remember(this.#lanes, key, no);
    remember(this.#laneKeys, no, key);
  }
}

function remember<Key, Value>(numbers: Map<Key, Value>, word: Key, number: Value): void {
  if (numbers.size >= REMEMBERED_MAX) numbers.clear();
  numbers.set(word, number);
}

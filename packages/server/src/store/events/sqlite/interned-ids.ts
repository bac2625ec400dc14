/**
 * Caches the numbers that represent event names and sources in the events table, so that a typical event needs no
 * lookup. Cleared when a transaction is rolled back, because the numbers it added do not exist.
 */

import type { DatabaseSync } from "node:sqlite";
import type { EventSource, SourceKind } from "../../contract/index.ts";

/** Senders choose the names, so the cache is bounded. */
const REMEMBERED_MAX = 10_000;

export class InternedIds {
  readonly #nameIds = new Map<string, number>();
  /** By kind, then by id: a combined key would have to be concatenated and hashed for every request. */
  readonly #sourceNos = new Map<SourceKind, Map<string, number>>();
  readonly #findOrAddName: (name: string) => number;
  readonly #findOrAddSource: (source: EventSource) => number;

  constructor(db: DatabaseSync) {
    const findName = db.prepare("SELECT name_id FROM event_names WHERE name = ?");
    const addName = db.prepare("INSERT INTO event_names (name) VALUES (?) RETURNING name_id");
    const findSource = db.prepare("SELECT source_no FROM event_sources WHERE source_kind = ? AND source_id = ?");
    const addSource = db.prepare("INSERT INTO event_sources (source_kind, source_id) VALUES (?, ?) RETURNING source_no");
    this.#findOrAddName = (name) => (findName.get(name) ?? addName.get(name))?.name_id as number;
    this.#findOrAddSource = ({ kind, id }) => (findSource.get(kind, id) ?? addSource.get(kind, id))?.source_no as number;
  }

  nameId(name: string): number {
    return this.#nameIds.get(name) ?? remember(this.#nameIds, name, this.#findOrAddName(name));
  }

  sourceNo(source: EventSource): number {
    const known = this.#sourceNos.get(source.kind)?.get(source.id);
    if (known !== undefined) return known;
    const numbers = this.#sourceNos.get(source.kind) ?? new Map<string, number>();
    this.#sourceNos.set(source.kind, numbers);
    return remember(numbers, source.id, this.#findOrAddSource(source));
  }

  forget(): void {
    this.#nameIds.clear();
    this.#sourceNos.clear();
  }
}

function remember(numbers: Map<string, number>, word: string, number: number): number {
  if (numbers.size >= REMEMBERED_MAX) numbers.clear();
  numbers.set(word, number);
  return number;
}

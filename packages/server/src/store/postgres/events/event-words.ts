/**
 * The numbers that stand for event names and sources in the events table. They are never removed, so those that are committed are
 * remembered. New ones are added ahead of the transaction that needs them: inside it, everybody with the same new name would wait for
 * its commit. Only a transaction that learns of its events as it goes adds them itself.
 */

import { type EventBatch, type EventSource, toStoreText } from "../../contract/index.ts";
import type { Read } from "../database.ts";

/** Names may be as many as a sender likes to invent. */
const REMEMBERED_MAX = 10_000;

interface WordRow {
  word: string;
  no: number;
}

/** Names and sources are found and added alike; rows are added in one order, so that nobody waits in a circle. */
const NAMES = {
  find: "SELECT name AS word, name_id AS no FROM event_names WHERE name = ANY ($1::text[])",
  add: "INSERT INTO event_names (name) SELECT name FROM unnest($1::text[]) AS name ORDER BY name ON CONFLICT DO NOTHING",
};
const SOURCES = {
  find: `
    SELECT source_kind || ' ' || source_id AS word, source_no AS no FROM event_sources
    WHERE (source_kind, source_id) IN (SELECT split_part(word, ' ', 1), substr(word, strpos(word, ' ') + 1) FROM unnest($1::text[]) AS word)`,
  add: `
    INSERT INTO event_sources (source_kind, source_id)
    SELECT split_part(word, ' ', 1), substr(word, strpos(word, ' ') + 1) FROM unnest($1::text[]) AS word ORDER BY 1, 2 ON CONFLICT DO NOTHING`,
};

/** The numbers of the words that some batches need. */
export class WordNumbers {
  readonly #names: ReadonlyMap<string, number>;
  readonly #sources: ReadonlyMap<string, number>;

  constructor(names: ReadonlyMap<string, number>, sources: ReadonlyMap<string, number>) {
    this.#names = names;
    this.#sources = sources;
  }

  nameId(name: string): number {
    return this.#names.get(toStoreText(name)) as number;
  }

  sourceNo(source: EventSource): number {
    return this.#sources.get(sourceWord(source)) as number;
  }
}

export class EventWords {
  readonly #names = new Map<string, number>();
  readonly #sources = new Map<string, number>();

  /** Before a transaction: `read` commits each statement. */
  async add(read: Read, batches: readonly EventBatch[]): Promise<void> {
    const isKnown = ({ source, events }: EventBatch) =>
      this.#sources.has(sourceWord(source)) && events.every(({ name }) => this.#names.has(toStoreText(name)));
    if (batches.every(isKnown)) return;
    await this.numbersFor(read, batches);
    // What was added is committed by now, and remembered.
    await this.numbersFor(read, batches);
  }

  async numbersFor(read: Read, batches: readonly EventBatch[]): Promise<WordNumbers> {
    const names = new Set(batches.flatMap(({ events }) => events.map(({ name }) => toStoreText(name))));
    const sources = new Set(batches.map(({ source }) => sourceWord(source)));
    return new WordNumbers(await resolve(read, NAMES, this.#names, names), await resolve(read, SOURCES, this.#sources, sources));
  }
}

async function resolve(
  read: Read,
  { find, add }: typeof NAMES,
  remembered: Map<string, number>,
  words: ReadonlySet<string>,
): Promise<Map<string, number>> {
  const numbers = new Map([...words].flatMap((word) => (remembered.has(word) ? [[word, remembered.get(word) as number]] : [])));
  const unknown = () => [...words].filter((word) => !numbers.has(word));
  if (unknown().length === 0) return numbers;
  if (remembered.size + words.size > REMEMBERED_MAX) remembered.clear();
  // What is found before anything is added here is committed.
  for (const { word, no } of await read<WordRow>(find, [unknown()])) {
    numbers.set(word, no);
    remembered.set(word, no);
  }
  if (unknown().length === 0) return numbers;
  await read(add, [unknown()]);
  for (const { word, no } of await read<WordRow>(find, [unknown()])) numbers.set(word, no);
  return numbers;
}

function sourceWord({ kind, id }: EventSource): string {
  return `${kind} ${id}`;
}

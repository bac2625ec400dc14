/**
 * The numbers that represent event names and sources in the events table. They are never removed, so committed ones are cached. New
 * ones are added before the transaction that needs them: inside it, every other transaction with the same new name would wait for its
 * commit. Only a transaction that creates events while it runs adds them itself.
 */

import type { EventBatch, EventSource } from "../../contract/index.ts";
import type { Read } from "../../postgres/database.ts";

/** Senders choose the names, so the cache is bounded. */
const REMEMBERED_MAX = 10_000;

interface InternedRow {
  text: string;
  no: number;
}

/** Names and sources are handled alike. Rows are added in a fixed order, which avoids deadlocks. */
const NAMES = {
  find: "SELECT name AS text, name_id AS no FROM event_names WHERE name = ANY ($1::text[])",
  add: "INSERT INTO event_names (name) SELECT name FROM unnest($1::text[]) AS name ORDER BY name ON CONFLICT DO NOTHING",
};
const SOURCES = {
  find: `
    SELECT source_kind || ' ' || source_id AS text, source_no AS no FROM event_sources
    WHERE (source_kind, source_id) IN (SELECT split_part(text, ' ', 1), substr(text, strpos(text, ' ') + 1) FROM unnest($1::text[]) AS text)`,
  add: `
    INSERT INTO event_sources (source_kind, source_id)
    SELECT split_part(text, ' ', 1), substr(text, strpos(text, ' ') + 1) FROM unnest($1::text[]) AS text ORDER BY 1, 2 ON CONFLICT DO NOTHING`,
};

/** The numbers of the names and sources of the batches. */
export class InternedNumbers {
  readonly #names: ReadonlyMap<string, number>;
  readonly #sources: ReadonlyMap<string, number>;

  constructor(names: ReadonlyMap<string, number>, sources: ReadonlyMap<string, number>) {
    this.#names = names;
    this.#sources = sources;
  }

  nameId(name: string): number {
    return this.#names.get(name) as number;
  }

  sourceNo(source: EventSource): number {
    return this.#sources.get(sourceText(source)) as number;
  }
}

export class InternedIds {
  readonly #names = new Map<string, number>();
  readonly #sources = new Map<string, number>();

  /** Called before a transaction: `read` commits each statement. */
  async add(read: Read, batches: readonly EventBatch[]): Promise<void> {
    const isKnown = ({ source, events }: EventBatch) =>
      this.#sources.has(sourceText(source)) && events.every(({ name }) => this.#names.has(name));
    if (batches.every(isKnown)) return;
    await this.numbersFor(read, batches);
    // Added rows are committed now, so they are cached.
    await this.numbersFor(read, batches);
  }

  async numbersFor(read: Read, batches: readonly EventBatch[]): Promise<InternedNumbers> {
    const names = new Set(batches.flatMap(({ events }) => events.map(({ name }) => name)));
    const sources = new Set(batches.map(({ source }) => sourceText(source)));
    return new InternedNumbers(await resolve(read, NAMES, this.#names, names), await resolve(read, SOURCES, this.#sources, sources));
  }
}

async function resolve(
  read: Read,
  { find, add }: typeof NAMES,
  remembered: Map<string, number>,
  texts: ReadonlySet<string>,
): Promise<Map<string, number>> {
  const numbers = new Map([...texts].flatMap((text) => (remembered.has(text) ? [[text, remembered.get(text) as number]] : [])));
  const unknown = () => [...texts].filter((text) => !numbers.has(text));
  if (unknown().length === 0) return numbers;
  if (remembered.size + texts.size > REMEMBERED_MAX) remembered.clear();
  // Rows found before anything is added here are committed.
  for (const { text, no } of await read<InternedRow>(find, [unknown()])) {
    numbers.set(text, no);
    remembered.set(text, no);
  }
  if (unknown().length === 0) return numbers;
  await read(add, [unknown()]);
  for (const { text, no } of await read<InternedRow>(find, [unknown()])) numbers.set(text, no);
  return numbers;
}

function sourceText({ kind, id }: EventSource): string {
  return `${kind} ${id}`;
}

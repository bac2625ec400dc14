/** What event lists have in common in both engines: filters that no index supports, and merging streams into a page. */

import type { CompileWhere, EventCursor, EventListParams, EventPage, StoredEvent } from "../../contract/index.ts";
import { readReconciled } from "../../reconciliations/contract/reconciled-source.ts";
import { PAGE_BYTES_MAX, type Slice } from "../../shared/byte-bounds.ts";
import { SOURCE_KINDS } from "../contract.ts";
import { bytesOfEvent, type EventRow, toStoredEvent } from "./event-rows.ts";
import { payloadContains } from "./payload-contains.ts";

export interface Collected {
  found: StoredEvent[];
  /** Set if the stream was not read to its end. */
  leftAt: EventCursor | null;
}

/** Time limit of the first page of a filtered list: the first response to a search is quick. */
const FIRST_PAGE_MS = 30;
/** Time limit of the following pages: a reader who continues a search wants many results. */
const NEXT_PAGE_MS = 500;
/** Rows that are read in any case: a small store is searched in one call, even on a busy machine. */
const ROWS_IN_ANY_CASE = 3_000;

/** The budget of one call for rows that a filter may reject. Beyond it, the page ends early and says where to continue. */
export class SearchBudget {
  readonly #deadline: number;
  #rows = 0;

  /** `after`: where the previous page ended. */
  constructor(after: unknown) {
    this.#deadline = Date.now() + (after === undefined ? FIRST_PAGE_MS : NEXT_PAGE_MS);
  }

  spend(rows: number): void {
    this.#rows += rows;
  }

  get isSpent(): boolean {
    return this.#rows >= ROWS_IN_ANY_CASE && Date.now() > this.#deadline;
  }
}

/** Rows read at a time: every stream is read at least once, however many there are. */
function rowsOfSlice(limit: number, filters: number, streams: number): number {
  return filters === 0 ? limit + 1 : Math.max(limit + 1, Math.ceil(SLICE_ROWS / streams));
}

const SLICE_ROWS = 500;

export interface Search {
  filters: readonly EventFilter[];
  sliceRows: number;
  /** What one stream may contribute to the page, and the size of one slice of it. */
  bytesMax: number;
  budget: SearchBudget;
}

/** `streams`: how many ranges are merged into the page. */
export function newSearch(params: EventListParams, filters: readonly EventFilter[], streams: number): Search {
  const { limit, after, bytesMax = PAGE_BYTES_MAX } = params;
  const sliceRows = rowsOfSlice(limit, filters.length, streams);
  return { filters, sliceRows, bytesMax: Math.ceil(bytesMax / Math.max(streams, 1)), budget: new SearchBudget(after) };
}

/** Reads one stream; `readSlice` reads its newest events older than a cursor. */
export async function collect(
  { limit, after: start }: EventListParams,
  { filters, sliceRows, bytesMax, budget }: Search,
  readSlice: (after: EventCursor | undefined, rows: number, bytesMax: number) => Promise<Slice<EventRow>>,
): Promise<Collected> {
  const found: StoredEvent[] = [];
  let bytes = 0;
  let after = start;
  for (;;) {
    const { rows, isEnd } = await readSlice(after, sliceRows, bytesMax);
    for (const row of rows) {
      const event = toStoredEvent(row);
      after = cursorOf(event);
      if (!filters.every((matches) => matches(event))) continue;
      found.push(event);
      bytes += bytesOfEvent(row);
      if (found.length > limit || bytes >= bytesMax) return { found, leftAt: after };
    }
    if (isEnd) return { found, leftAt: null };
    budget.spend(rows.length);
    if (budget.isSpent) return { found, leftAt: after ?? null };
  }
}

export type EventFilter = (event: StoredEvent) => boolean;

/** For source and text filters, which no index supports. */
export function payloadFilters(params: EventListParams, compileWhere: CompileWhere): EventFilter[] {
  const { source, text, internal, matched, where, hidden } = params;
  const filters: EventFilter[] = [];
  if (source !== undefined) filters.push(sourceFilter(source));
  if (internal === false) filters.push((event) => event.source.kind !== "internal");
  if (matched !== undefined) filters.push((event) => event.isMatched === matched);
  if (text !== undefined) filters.push((event) => payloadContains(event, text));
  if (where !== undefined) filters.push(compileWhere(where));
  if (hidden !== undefined) filters.push((event) => !holds(event, hidden));
  return filters;
}

/** Whether this is found in what can be searched. */
export function holds({ name, data, extras }: StoredEvent, wanted: RegExp): boolean {
  return [name, data, extras].some((part) => part !== null && wanted.test(part));
}

/** For a store that was opened without support for expressions. */
export const noWhere: CompileWhere = () => {
  throw new Error("this store was opened without a way to read expressions");
};

export function nameFilter(pattern: string): EventFilter {
  if (!pattern.endsWith("*")) return (event) => event.name === pattern;
  const prefix = pattern.slice(0, -1);
  return (event) => event.name.startsWith(prefix);
}

function sourceFilter(source: string): EventFilter {
  const isKind = (SOURCE_KINDS as readonly string[]).includes(source);
  return isKind ? (event) => event.source.kind === source : (event) => readReconciled(event.source).source.id === source;
}

/** If streams stopped at different cursors, only events newer than the newest of these cursors are complete. */
export function mergeStreams(collected: Collected[], limit: number): EventPage {
  const cursors = collected.flatMap(({ leftAt }) => leftAt ?? []);
  const horizon = cursors.sort(newestFirst)[0];
  const known = collected
    .flatMap(({ found }) => found)
    .filter((event) => !horizon || newestFirst(cursorOf(event), horizon) <= 0)
    .sort((a, b) => newestFirst(cursorOf(a), cursorOf(b)));
  const events = known.slice(0, limit);
  const last = events.at(-1);
  if (known.length > limit && last) return { events, next: cursorOf(last) };
  return { events, next: horizon ?? null };
}

function cursorOf(event: StoredEvent): EventCursor {
  return { receivedAt: event.receivedAt, sequence: event.sequence };
}

function newestFirst(a: EventCursor, b: EventCursor): number {
  return b.receivedAt - a.receivedAt || b.sequence - a.sequence;
}

/** Merges units into the parameters of one call of write_units, and reads its answer. */

import type { Database } from "./database.ts";
import type { Row, UnitDraft, UnitRows } from "./unit-draft.ts";

export interface WrittenUnit {
  /** What it was decided on is no longer so: nothing of it was written. */
  isStale: boolean;
  firsts: Map<number, string>;
  sequences: number[];
}

export interface MergedUnit {
  draft: UnitDraft;
  /** Its answer was lost the last time: it may be there. */
  isWrittenAgain: boolean;
}

interface AnswerRow {
  stale: number[];
  repeated: number[];
  firsts: string[];
  sequences: number[] | null;
}

const READ_ROWS = ["runsRead", "held", "marksRead", "waitsRead", "eventsRead"] as const;
const NEW_ROWS = ["newRuns", "newEntries", "newWaits", "requests"] as const;
const CHANGED_ROWS = ["runs", "steps", "attempts", "calls", "entries", "entriesGone", "waitsGone", "marks"] as const;

const PARAMETERS = 2 + READ_ROWS.length + 15 + NEW_ROWS.length + CHANGED_ROWS.length;
const CALL = `SELECT * FROM write_units(${Array.from({ length: PARAMETERS }, (_, n) => `$${n + 1}`).join(", ")})`;

export async function writeUnits(database: Database, units: readonly MergedUnit[]): Promise<WrittenUnit[]> {
  const offsets: number[] = [];
  let events = 0;
  for (const { draft } of units) {
    offsets.push(events);
    events += draft.events.length;
  }
  const rows = (name: keyof UnitRows) => mergedRows(units, offsets, name);
  const values = [
    lockRows(units),
    laneNumbers(units),
    ...READ_ROWS.map(rows),
    ...eventArrays(units, events),
    numbersOf(units, offsets),
    ...NEW_ROWS.map(rows),
    ...CHANGED_ROWS.map(rows),
  ];
  const [answer] = await database.query<AnswerRow>(CALL, values);
  if (!answer) throw new Error("write_units did not answer");
  return units.map(({ draft }, index) => unitAnswer(answer, index, offsets[index] ?? 0, draft.events.length));
}

/** In the order of their numbers, as every node takes them. */
function lockRows(units: readonly MergedUnit[]): string | null {
  const locks = new Map<string, boolean>();
  for (const { draft } of units) for (const [key, isExclusive] of draft.locks) locks.set(key, isExclusive || locks.get(key) === true);
  if (locks.size === 0) return null;
  const sorted = [...locks].map(([key, x]) => ({ key: BigInt(key), x })).sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0));
  return `[${sorted.map(({ key, x }) => `{"k":${key},"x":${x}}`).join(",")}]`;
}

function laneNumbers(units: readonly MergedUnit[]): number[] | null {
  const lanes = new Set(units.flatMap(({ draft }) => [...draft.lanes]));
  return lanes.size === 0 ? null : [...lanes];
}

/** What is null is left out, and read as null: a third of the text. */
function mergedRows(units: readonly MergedUnit[], offsets: readonly number[], name: keyof UnitRows): string | null {
  const merged: Row[] = [];
  for (const [u, { draft }] of units.entries()) {
    for (const row of draft.rows[name]) {
      const given: Row = { u };
      for (const column in row) if (row[column] !== null) given[column] = row[column];
      if (typeof row.e === "number") given.e = row.e + (offsets[u] ?? 0);
      merged.push(given);
    }
  }
  return merged.length === 0 ? null : JSON.stringify(merged);
}

/** Arrays, one for each column, which PostgreSQL takes apart with unnest: half the cost of rows as JSON. */
function eventArrays(units: readonly MergedUnit[], count: number): (unknown[] | null)[] {
  if (count === 0) return Array.from({ length: 14 }, () => null);
  const [unit, environment, id, name, ts, received, dedup]: unknown[][] = [[], [], [], [], [], [], []];
  const [dedupKey, since, source, extras, data, repeats, mayExist]: unknown[][] = [[], [], [], [], [], [], []];
  for (const [u, { draft, isWrittenAgain }] of units.entries()) {
    for (const event of draft.events) {
      unit?.push(u);
      environment?.push(event.environmentId);
      id?.push(event.id);
      name?.push(event.nameId);
      ts?.push(event.ts);
      received?.push(event.receivedAt);
      dedup?.push(event.dedupId);
      dedupKey?.push(event.dedupKey);
      since?.push(event.since);
      source?.push(event.sourceNo);
      extras?.push(event.extras);
      data?.push(event.data);
      repeats?.push(event.repeats);
      mayExist?.push(event.mayExist ? 1 : isWrittenAgain ? 2 : 0);
    }
  }
  const keys = dedupKey?.some((key) => key !== null) ? dedupKey : null;
  return [unit, environment, id, name, ts, received, dedup, keys, since, source, extras, data, repeats, mayExist] as (unknown[] | null)[];
}

function numbersOf(units: readonly MergedUnit[], offsets: readonly number[]): number[] | null {
  const numbers = units.flatMap(({ draft }, u) => draft.mustBeNew.map((number) => number + (offsets[u] ?? 0)));
  return numbers.length === 0 ? null : numbers;
}

function unitAnswer(answer: AnswerRow, unit: number, offset: number, events: number): WrittenUnit {
  const firsts = new Map<number, string>();
  for (const [index, number] of answer.repeated.entries()) {
    if (number > offset && number <= offset + events) firsts.set(number - offset, answer.firsts[index] ?? "");
  }
  return { isStale: answer.stale.includes(unit), firsts, sequences: (answer.sequences ?? []).slice(offset, offset + events) };
}

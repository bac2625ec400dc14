/**
 * What an erasure covers in the archive: as in the store, events, the runs that they started or resumed, internal events about these runs,
 * events with which they invoked others, and so on. Found in passes over the few columns that say so, until a pass finds nothing new. Only files
 * and groups of rows whose bounds include one of the keys are read.
 */

import type { EventId, RunId } from "@inlet/protocol";
import { ARCHIVED_TABLES, type ArchivedRow, type ArchivedTable, type Environment } from "../store/contract/index.ts";
import type { Bounded, FileSurvey, SurveyedFile } from "./file-survey.ts";
import { type ArchiveStorage, groupsOf, mayHold } from "./files/read-file.ts";

/** What the store erased. */
export interface ErasedInStore {
  sequences: readonly number[];
  runIds: readonly RunId[];
  eventIds: readonly EventId[];
}

export class ArchivedScope {
  readonly sequences = new Set<number>();
  readonly eventIds = new Set<string>();
  readonly runIds = new Set<string>();
  /** Runs that are in the archive, with the times of their creation and their end. */
  readonly runs = new Map<string, { createdAt: number; endedAt: number }>();

  constructor(erased: ErasedInStore) {
    this.add(erased);
  }

  add({ sequences, runIds, eventIds }: ErasedInStore): void {
    for (const sequence of sequences) this.sequences.add(sequence);
    for (const id of runIds) this.runIds.add(id);
    for (const id of eventIds) this.eventIds.add(id);
  }

  get size(): number {
    return this.sequences.size + this.eventIds.size + this.runIds.size + this.runs.size;
  }

  /** Whether there may be a row that `has` or `follow` takes. */
  mayHave(table: ArchivedTable, { bounds }: Bounded): boolean {
    const [ofSequences, ofEvents, ofRuns] = SCOPED[table];
    // A batch is a JSON array, whose bounds tell nothing of its numbers.
    if (table === "runs" && this.sequences.size > 0 && bounds("event_sequences") !== "none") return true;
    return (
      mayHold(bounds(ofRuns), this.runIds) ||
      (ofSequences !== null && mayHold(bounds(ofSequences), this.sequences)) ||
      (ofEvents !== null && mayHold(bounds(ofEvents), this.eventIds))
    );
  }

  has(table: ArchivedTable, row: ArchivedRow): boolean {
    if (table === "events") return this.sequences.has(row.sequence as number);
    if (table === "runs") return this.runIds.has(row.run_id as string);
    return this.runIds.has(row.run_id as string) || this.isInvokedWith(row);
  }

  /** A step that invoked another function with one of the events, possibly of a run that is not covered. */
  isInvokedWith({ kind, event_id }: ArchivedRow): boolean {
    return kind === "invoke" && event_id !== null && this.eventIds.has(event_id as string);
  }

  /** Takes what a row adds. */
  follow(table: ArchivedTable, row: ArchivedRow): void {
    if (table === "events") this.#followEvent(row);
    else if (table === "runs") this.#followRun(row);
    else this.#followStep(row);
  }

  #followEvent({ sequence, event_id, source_kind, source_run_id }: ArchivedRow): void {
    const isAbout = source_kind === "internal" && this.runIds.has(source_run_id as string);
    if (!isAbout && !this.sequences.has(sequence as number) && !this.eventIds.has(event_id as string)) return;
    this.sequences.add(sequence as number);
    this.eventIds.add(event_id as string);
  }

  #followRun({ run_id, event_sequence, event_sequences, created_at, ended_at }: ArchivedRow): void {
    const batch = event_sequences === null ? [] : (JSON.parse(event_sequences as string) as number[]);
    const isStarted = [event_sequence as number, ...batch].some((sequence) => this.sequences.has(sequence));
    if (!isStarted && !this.runIds.has(run_id as string)) return;
    this.runIds.add(run_id as string);
    this.runs.set(run_id as string, { createdAt: created_at as number, endedAt: ended_at as number });
  }

  #followStep({ run_id, kind, event_id }: ArchivedRow): void {
    if (event_id === null) return;
    if (kind === "wait" && this.eventIds.has(event_id as string)) this.runIds.add(run_id as string);
    if (kind === "invoke" && this.runIds.has(run_id as string)) this.eventIds.add(event_id as string);
  }
}

/** The columns with sequences and ids of events, and with ids of runs. */
const SCOPED: Readonly<Record<ArchivedTable, readonly [string | null, string | null, string]>> = {
  events: ["sequence", "event_id", "source_run_id"],
  runs: ["event_sequence", null, "run_id"],
  steps: [null, "event_id", "run_id"],
};

const FOLLOWED: Readonly<Record<ArchivedTable, readonly string[]>> = {
  events: ["sequence", "event_id", "source_kind", "source_run_id"],
  runs: ["run_id", "event_sequence", "event_sequences", "created_at", "ended_at"],
  steps: ["run_id", "kind", "event_id"],
};

export interface ArchiveFiles extends ArchiveStorage {
  survey: FileSurvey;
}

/** Extends the scope by what the archive has. */
export async function followArchive({ survey, ...storage }: ArchiveFiles, environment: Environment, scope: ArchivedScope): Promise<void> {
  const files = [];
  for (const table of ARCHIVED_TABLES) files.push(...(await survey.files(environment, table)));
  for (let size = -1; size !== scope.size; ) {
    size = scope.size;
    for (const file of files) await eachRow(storage, file, scope, FOLLOWED[file.table], (row) => scope.follow(file.table, row));
  }
}

/** Group by group, without those that have nothing of the scope. */
export async function eachRow(
  { target, decoder }: ArchiveStorage,
  { table, name, bounds }: SurveyedFile,
  scope: ArchivedScope,
  columns: readonly string[],
  work: (row: ArchivedRow) => void,
): Promise<void> {
  if (!scope.mayHave(table, { bounds })) return;
  const file = await target.open(name);
  try {
    if (file)
      for (const group of await groupsOf(decoder, table, file))
        if (scope.mayHave(table, group)) for (const row of await group.read(columns)) work(row);
  } finally {
    await file?.close();
  }
}

/**
 * Erasure in the archive: files with rows that it covers are written anew, with the content of these rows overwritten as in the store. Store
 * and archive refer to each other, because their retention times differ, so each is followed until neither adds anything. Idempotent.
 */

import type { EventId } from "@inlet/protocol";
import {
  ARCHIVED_TABLES,
  type ArchivedRow,
  type ArchivedTable,
  type Environment,
  type EventCursor,
  type EventListParams,
  type EventStore,
} from "../store/contract/index.ts";
import {
  APPROVAL_EVENT_NAMES,
  ERASED_DATA,
  ERASED_ERROR,
  ERASED_FAILURE,
  ERASED_RESULT,
  REPEATING_EVENT_NAMES,
} from "../store/erasure/policy.ts";
import { ArchivedScope, type ArchiveFiles, type ErasedInStore, eachRow, followArchive } from "./erasure-scope.ts";
import type { SurveyedFile } from "./file-survey.ts";
import { type ArchiveStorage, rowsOf } from "./files/read-file.ts";

export interface EraseArchivedParams extends ErasedInStore {
  environment: Environment;
  /** Erases in the store what the archive leads to. */
  eraseInStore(sequences: readonly number[], archivedIds: readonly EventId[]): Promise<ErasedInStore>;
}

export interface EraseArchivedParts extends ArchiveFiles {
  store: Pick<EventStore, "eventGet" | "eventList">;
  replace(name: string, table: ArchivedTable, rows: AsyncIterable<ArchivedRow>): Promise<string>;
}

const EVENTS_PER_PAGE = 100;

export async function eraseArchived(
  { survey, store, replace, ...storage }: EraseArchivedParts,
  params: EraseArchivedParams,
): Promise<void> {
  const { environment, eraseInStore } = params;
  const scope = new ArchivedScope(params);
  for (let size = -1; size !== scope.size; ) {
    size = scope.size;
    await followArchive({ ...storage, survey }, environment, scope);
    for (const sequence of await followersIn(store, environment, scope)) scope.sequences.add(sequence);
    const erased = await eraseInStore([...scope.sequences], [...scope.eventIds] as EventId[]);
    scope.add(erased);
  }
  for (const table of ARCHIVED_TABLES)
    for (const file of await survey.files(environment, table))
      if (await isCovered(storage, file, scope)) await eraseFile(storage, replace, file, scope);
}

/** Events of the store that follow from what is in the archive: those of invocations, and those about runs, their approvals and their ends. */
async function followersIn(
  store: EraseArchivedParts["store"],
  { id: environmentId }: Environment,
  { eventIds, runs }: ArchivedScope,
): Promise<number[]> {
  const found: number[] = [];
  for (const id of eventIds) {
    const event = await store.eventGet({ environmentId, id: id as EventId });
    if (event) found.push(event.sequence);
  }
  for (const [runId, { createdAt, endedAt }] of runs) {
    const times = (from: number) => ({ environmentId, from, to: endedAt + 1, sourceRun: runId });
    for (const name of REPEATING_EVENT_NAMES) found.push(...(await eventsAbout(store, { ...times(endedAt), name })));
    for (const name of APPROVAL_EVENT_NAMES) found.push(...(await eventsAbout(store, { ...times(createdAt), name })));
  }
  return found;
}

async function eventsAbout(
  store: EraseArchivedParts["store"],
  { sourceRun, ...filter }: Omit<EventListParams, "limit"> & { sourceRun: string },
): Promise<number[]> {
  const found: number[] = [];
  for (let after: EventCursor | null | undefined; after !== null; ) {
    const { events, next } = await store.eventList({ ...filter, limit: EVENTS_PER_PAGE, ...(after && { after }) });
    found.push(...events.filter((event) => event.sourceRun === sourceRun).map(({ sequence }) => sequence));
    after = next;
  }
  return found;
}

const IDENTIFYING: Readonly<Record<ArchivedTable, readonly string[]>> = {
  events: ["sequence"],
  runs: ["run_id"],
  steps: ["run_id", "kind", "event_id"],
};

async function isCovered(storage: ArchiveStorage, file: SurveyedFile, scope: ArchivedScope): Promise<boolean> {
  let isFound = false;
  await eachRow(storage, file, scope, IDENTIFYING[file.table], (row) => {
    isFound ||= scope.has(file.table, row);
  });
  return isFound;
}

async function eraseFile(
  { target, decoder }: ArchiveStorage,
  replace: EraseArchivedParts["replace"],
  { table, name }: SurveyedFile,
  scope: ArchivedScope,
): Promise<void> {
  const file = await target.open(name);
  if (!file) return;
  async function* rows(from: AsyncIterable<ArchivedRow>): AsyncGenerator<ArchivedRow> {
    for await (const row of from) yield scope.has(table, row) ? { ...row, ...erased(table, row, scope) } : row;
  }
  try {
    await replace(name, table, rows(rowsOf(decoder, table, file)));
  } finally {
    await file.close();
  }
}

function erased(table: ArchivedTable, row: ArchivedRow, scope: ArchivedScope): ArchivedRow {
  const ifAny = (column: string, text: string) => ({ [column]: row[column] === null ? null : text });
  if (table === "events") return { data: ERASED_DATA, extras: null, schema_errors: null };
  if (table === "runs") return { ...ifAny("output", "null"), ...ifAny("error", ERASED_ERROR), order_key: null };
  if (scope.runIds.has(row.run_id as string)) return ifAny("value", "null");
  return ifAny("value", row.status === "failed" ? ERASED_FAILURE : ERASED_RESULT);
}

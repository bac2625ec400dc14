/**
 * Erasure in the archive: files with rows that it covers are written anew, with the content of these rows overwritten as in the store. Store
 * and archive refer to each other, because their retention times differ, so each is followed until neither adds anything. Idempotent.
 */

import type { EventId } from "@inlet/protocol";
import { ARCHIVED_TABLES, type ArchivedRow, type ArchivedTable, type Environment, type EventStore } from "../store/contract/index.ts";
import { ERASED_DATA, ERASED_ERROR, ERASED_FAILURE, ERASED_RESULT, REPEATING_EVENT_NAMES } from "../store/erasure/policy.ts";
import { ArchivedScope, type ErasedInStore, eachRow, followArchive } from "./erasure-scope.ts";
import { tablePrefix } from "./file-names.ts";
import { rowsOf } from "./files/read-file.ts";
import type { ArchiveTarget } from "./targets/archive-target.ts";

export interface EraseArchivedParams extends ErasedInStore {
  environment: Environment;
  /** Erases in the store what the archive leads to. */
  eraseInStore(sequences: readonly number[], archivedIds: readonly EventId[]): Promise<ErasedInStore>;
}

export interface EraseArchivedParts {
  target: ArchiveTarget;
  store: Pick<EventStore, "eventGet" | "eventList">;
  replace(name: string, table: ArchivedTable, rows: AsyncIterable<ArchivedRow>): Promise<string>;
}

/** More internal events are not written about one run. */
const EVENTS_OF_RUN_MAX = 100;

export async function eraseArchived({ target, store, replace }: EraseArchivedParts, params: EraseArchivedParams): Promise<void> {
  const { environment, eraseInStore } = params;
  const scope = new ArchivedScope(params);
  for (let size = -1; size !== scope.size; ) {
    size = scope.size;
    await followArchive(target, environment, scope);
    for (const sequence of await followersIn(store, environment, scope)) scope.sequences.add(sequence);
    const erased = await eraseInStore([...scope.sequences], [...scope.eventIds] as EventId[]);
    scope.add(erased);
  }
  for (const table of ARCHIVED_TABLES)
    for (const name of await target.list(tablePrefix(environment.name, table)))
      if (await isCovered(target, table, name, scope)) await eraseFile(target, replace, { table, name, scope });
}

/** Events of the store that follow from what is in the archive: those of invocations, and those about the ends of runs. */
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
  for (const [runId, endedAt] of runs) {
    for (const name of REPEATING_EVENT_NAMES) {
      const { events } = await store.eventList({ environmentId, name, from: endedAt, to: endedAt + 1, limit: EVENTS_OF_RUN_MAX });
      found.push(...events.filter(({ sourceRun }) => sourceRun === runId).map(({ sequence }) => sequence));
    }
  }
  return found;
}

const IDENTIFYING: Readonly<Record<ArchivedTable, readonly string[]>> = {
  events: ["sequence"],
  runs: ["run_id"],
  steps: ["run_id", "kind", "event_id"],
};

async function isCovered(target: ArchiveTarget, table: ArchivedTable, name: string, scope: ArchivedScope): Promise<boolean> {
  let isFound = false;
  await eachRow(target, table, name, IDENTIFYING[table], (row) => {
    isFound ||= scope.has(table, row);
  });
  return isFound;
}

async function eraseFile(
  target: ArchiveTarget,
  replace: EraseArchivedParts["replace"],
  { table, name, scope }: { table: ArchivedTable; name: string; scope: ArchivedScope },
): Promise<void> {
  const file = await target.open(name);
  if (!file) return;
  async function* rows(from: AsyncIterable<ArchivedRow>): AsyncGenerator<ArchivedRow> {
    for await (const row of from) yield scope.has(table, row) ? { ...row, ...erased(table, row, scope) } : row;
  }
  try {
    await replace(name, table, rows(rowsOf(table, file)));
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

/**
 * The kind events.erase: overwrites what events carried and led to. Unfinished runs that they started or resumed, and undecided starts, are
 * cancelled first; the internal events about that are erased with them. Erasing twice does no harm. The filter may itself be what is to
 * be forgotten, so only its hash is kept. With an archive, events are found and overwritten there as well.
 */

import { setTimeout as pause } from "node:timers/promises";
import type { EnvironmentId, EventId, RunId, RunNo } from "@inlet/protocol";
import { EVENT_FILTERS } from "../../api/events/event-filters.ts";
import type {
  Environment,
  ErasureOutcome,
  ErasureStore,
  EventCursor,
  EventEraseParams,
  EventListParams,
  EventPage,
  EventStore,
  StoredEvent,
} from "../../store/contract/index.ts";
import { type FoundPage, InTheWay, type JobFilter, type JobKind, PAGE_ITEMS } from "../job-kind.ts";
import { type FindEventsParts, findEvents, foundEvents, ONE_EVENT, type Selected, selectedBy } from "./find-events.ts";

export interface EraseEventsParts extends FindEventsParts {
  store: Pick<EventStore, "eventList" | "eventGet"> & ErasureStore;
  cancel(run: { environmentId: EnvironmentId; no: RunNo }): Promise<boolean>;
  gatheringWithout: EventEraseParams["gatheringWithout"];
  /** Null: nothing is archived. */
  archive: ErasureArchive | null;
  environment(id: EnvironmentId): Environment | undefined;
}

type Erased = Pick<ErasureOutcome, "sequences" | "runIds" | "eventIds">;

/** Events that left the store with their partition, and what they led to. */
export interface ErasureArchive {
  eventFind(environment: Environment, params: EventListParams & { id?: EventId }): Promise<EventPage>;
  /** False: it is being written by somebody else. */
  eventErase(
    params: Erased & {
      environment: Environment;
      eraseInStore(sequences: readonly number[], archivedIds: readonly EventId[]): Promise<Erased>;
    },
  ): Promise<boolean>;
}

const BATCH_MAX = 20;
/** A batch lists the archive of its environment, and overwrites each file that it covers as a whole. */
const ARCHIVED_BATCH_MAX = 500;
/** Begins the cursor of what is found in the archive, after all that is found in the store. */
const IN_ARCHIVE = "archive ";
/** How long a batch waits for calls under way, before it is tried again later. */
const WAITS_MAX = 50;
const WAIT_MS = 100;

export function eraseEvents(parts: EraseEventsParts): JobKind {
  const { archive } = parts;
  return {
    kind: "events.erase",
    filters: { ...EVENT_FILTERS, ...ONE_EVENT },
    takesAll: false,
    hidesFilter: true,
    batchMax: archive ? ARCHIVED_BATCH_MAX : BATCH_MAX,
    async find(environment, filter, cursor, stopping) {
      if (cursor?.startsWith(IN_ARCHIVE)) return findArchived(parts, environment, filter, cursor.slice(IN_ARCHIVE.length), stopping);
      const page = await findEvents(parts, environment, filter, cursor);
      return archive && page.next === null ? { ...page, next: IN_ARCHIVE } : page;
    },
    async work({ environmentId }, items) {
      const erased = await eraseInStore(parts, environmentId, items as readonly number[]);
      if (archive) await eraseInArchive(parts, archive, environmentId, erased);
      return { starts: [], failures: [] };
    },
    async settle({ environmentId }) {
      await parts.store.erasureSettle({ environmentId }).catch((error: Error) => {
        throw new Error(`Everything is erased, but the space it took in the store could not be cleaned: ${error.message}`, {
          cause: error,
        });
      });
      return undefined;
    },
  };
}

/** Without those that the store has as well, because their partition is not dropped yet: they were found there. */
async function findArchived(
  { archive, store, sourceName }: EraseEventsParts,
  environment: Environment,
  filter: JobFilter,
  cursor: string,
  stopping: AbortSignal,
): Promise<FoundPage> {
  const after = cursor === "" ? {} : { after: JSON.parse(cursor) as EventCursor };
  const selected = selectedBy(filter);
  const one = selected.id === null ? {} : { id: selected.id };
  const params = { environmentId: environment.id, limit: PAGE_ITEMS, ...selected.listed, ...one, ...after };
  const page = (await archive?.eventFind(environment, params)) ?? { events: [], next: null };
  const stored = await storedAmong(store, environment.id, selected.listed, page.events, stopping);
  const events = page.events.filter(({ sequence }) => !stored.has(sequence));
  const next = page.next && IN_ARCHIVE + JSON.stringify(page.next);
  return { found: foundEvents(events, { environment: environment.name, source: sourceName }, selected), next };
}

/** By the same filter: what only an earlier erasure found in the store may have to be erased in the archive. */
async function storedAmong(
  store: EraseEventsParts["store"],
  environmentId: EnvironmentId,
  listed: Selected["listed"],
  events: readonly StoredEvent[],
  stopping: AbortSignal,
): Promise<Set<number>> {
  const [newest, oldest] = [events.at(0), events.at(-1)];
  const stored = new Set<number>();
  if (!newest || !oldest) return stored;
  const params = { environmentId, limit: PAGE_ITEMS, ...listed, from: oldest.receivedAt, to: newest.receivedAt + 1 };
  for (let after: EventCursor | null | undefined; after !== null; ) {
    stopping.throwIfAborted();
    const page = await store.eventList({ ...params, ...(after && { after }) });
    for (const { sequence } of page.events) stored.add(sequence);
    after = page.next;
  }
  return stored;
}

/** In transactions of bounded size. */
async function eraseInStore(
  parts: EraseEventsParts,
  environmentId: EnvironmentId,
  sequences: readonly number[],
  archivedIds: readonly EventId[] = [],
): Promise<Erased> {
  const erased = { sequences: new Set(sequences), runIds: new Set<RunId>(), eventIds: new Set<EventId>() };
  for (let at = 0; at < Math.max(sequences.length, archivedIds.length); at += BATCH_MAX) {
    const some = { sequences: sequences.slice(at, at + BATCH_MAX), archivedIds: archivedIds.slice(at, at + BATCH_MAX) };
    const done = await eraseBatch(parts, { environmentId, ...some, gatheringWithout: parts.gatheringWithout });
    for (const sequence of done.sequences) erased.sequences.add(sequence);
    for (const id of done.runIds) erased.runIds.add(id);
    for (const id of done.eventIds) erased.eventIds.add(id);
  }
  return { sequences: [...erased.sequences], runIds: [...erased.runIds], eventIds: [...erased.eventIds] };
}

async function eraseBatch({ store, cancel }: EraseEventsParts, params: EventEraseParams): Promise<Erased> {
  for (let waits = 0; waits < WAITS_MAX; waits++) {
    const { unfinished, calling, deciding, ...erased } = await store.eventErase(params);
    if (unfinished.length + calling.length + deciding === 0) return erased;
    for (const no of unfinished) await cancel({ environmentId: params.environmentId, no });
    if (unfinished.length === 0) await pause(WAIT_MS);
  }
  throw new InTheWay("calls of runs that were cancelled are still under way");
}

async function eraseInArchive(
  parts: EraseEventsParts,
  archive: ErasureArchive,
  environmentId: EnvironmentId,
  erased: Erased,
): Promise<void> {
  const environment = parts.environment(environmentId);
  if (!environment) throw new Error(`the environment ${environmentId} is not known`);
  const params = {
    ...erased,
    environment,
    eraseInStore: (sequences: readonly number[], ids: readonly EventId[]) => eraseInStore(parts, environmentId, sequences, ids),
  };
  for (let waits = 0; waits < WAITS_MAX; waits++) {
    if (await archive.eventErase(params)) return;
    await pause(WAIT_MS);
  }
  throw new InTheWay("the archive is being written");
}

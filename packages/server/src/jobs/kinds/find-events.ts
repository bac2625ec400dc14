/** Events as items of a job: those that the list of events shows with the same filter, or one of them by its Event ID. */

import type { EnvironmentId, EventId } from "@inlet/protocol";
import { type EventFilterQuery, eventFilter } from "../../api/events/event-filters.ts";
import { EVENT_ID } from "../../api/text-patterns.ts";
import { type EventNames, eventView } from "../../observe/event-view.ts";
import type { Environment, EventCursor, EventListParams, EventStore, StoredEvent } from "../../store/contract/index.ts";
import { type FoundItem, type FoundPage, type JobFilter, PAGE_ITEMS } from "../job-kind.ts";

export interface FindEventsParts {
  store: Pick<EventStore, "eventList" | "eventGet">;
  sourceName: EventNames["source"];
}

/** A filter of jobs only: the list has `GET /v1/events/:id`. */
export const ONE_EVENT = {
  event: { type: "string", pattern: EVENT_ID, description: "The Event ID of the one event." },
} as const;

export async function findEvents(
  { store, sourceName }: FindEventsParts,
  environment: Environment,
  filter: JobFilter,
  cursor: string | null,
): Promise<FoundPage> {
  const names = { environment: environment.name, source: sourceName };
  const selected = selectedBy(filter);
  const params = await narrowed(store, environment.id, selected);
  if (!params) return { found: [], next: null };
  const page = await store.eventList({
    environmentId: environment.id,
    limit: PAGE_ITEMS,
    ...params,
    ...(cursor !== null && { after: JSON.parse(cursor) as EventCursor }),
  });
  return { found: foundEvents(page.events, names, selected), next: page.next && JSON.stringify(page.next) };
}

/** What a filter selects: events of a list and, if `id` is not null, of these only the one with this id. */
export interface Selected {
  listed: Omit<EventListParams, "environmentId" | "limit" | "after">;
  id: EventId | null;
}

export function selectedBy({ event, ...filter }: JobFilter): Selected {
  return { listed: eventFilter(filter as EventFilterQuery), id: event === undefined ? null : (String(event).toUpperCase() as EventId) };
}

export function foundEvents(events: readonly StoredEvent[], names: EventNames, { id }: Selected): FoundItem[] {
  const found = events.filter((event) => id === null || event.id === id);
  return found.map((event) => ({ item: event.sequence, sample: () => eventView(event, names) }));
}

/** One event is looked for in the millisecond in which it was received. Null: it is not in the store. */
async function narrowed(
  store: FindEventsParts["store"],
  environmentId: EnvironmentId,
  { listed, id }: Selected,
): Promise<Selected["listed"] | null> {
  if (id === null) return listed;
  const known = await store.eventGet({ environmentId, id });
  if (!known || known.receivedAt < (listed.from ?? 0) || known.receivedAt >= (listed.to ?? Number.POSITIVE_INFINITY)) return null;
  return { ...listed, from: known.receivedAt, to: known.receivedAt + 1 };
}

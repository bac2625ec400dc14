/** Events as items of a job: those that the list of events shows with the same filter. */

import { type EventFilterQuery, eventFilter } from "../../api/events/events-routes.ts";
import { type EventNames, eventView } from "../../observe/event-view.ts";
import type { Environment, EventCursor, EventStore, StoredEvent } from "../../store/contract/index.ts";
import { type FoundItem, type FoundPage, type JobFilter, PAGE_ITEMS } from "../job-kind.ts";

export interface FindEventsParts {
  store: Pick<EventStore, "eventList">;
  sourceName: EventNames["source"];
}

export async function findEvents(
  { store, sourceName }: FindEventsParts,
  environment: Environment,
  filter: JobFilter,
  cursor: string | null,
): Promise<FoundPage> {
  const names = { environment: environment.name, source: sourceName };
  const page = await store.eventList({
    environmentId: environment.id,
    limit: PAGE_ITEMS,
    ...eventFilter(filter as EventFilterQuery),
    ...(cursor !== null && { after: JSON.parse(cursor) as EventCursor }),
  });
  return { found: foundEvents(page.events, names), next: page.next && JSON.stringify(page.next) };
}

export function foundEvents(events: readonly StoredEvent[], names: EventNames): FoundItem[] {
  return events.map((event) => ({ item: event.sequence, sample: () => eventView(event, names) }));
}

/** Events as items of a job: those that the list of events shows with the same filter. */

import { type EventFilterQuery, eventFilter } from "../../api/events/events-routes.ts";
import { type EventNames, eventView } from "../../observe/event-view.ts";
import type { Environment, EventCursor, EventStore } from "../../store/contract/index.ts";
import { type FoundItem, PAGE_ITEMS } from "../job-kind.ts";

export interface FindEventsParts {
  store: Pick<EventStore, "eventList">;
  sourceName: EventNames["source"];
}

export async function* findEvents(
  { store, sourceName }: FindEventsParts,
  environment: Environment,
  filter: Readonly<Record<string, unknown>>,
): AsyncGenerator<FoundItem[]> {
  const params = { environmentId: environment.id, limit: PAGE_ITEMS, ...eventFilter(filter as EventFilterQuery) };
  const names = { environment: environment.name, source: sourceName };
  for (let after: EventCursor | null | undefined; after !== null; ) {
    const page = await store.eventList({ ...params, ...(after && { after }) });
    yield page.events.map((event) => ({ item: event.sequence, sample: () => eventView(event, names) }));
    after = page.next;
  }
}

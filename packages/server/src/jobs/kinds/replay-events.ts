/** The kind events.replay: runs the functions subscribed now, or one of them, for events that are stored. The backfill for late subscribers. */

import type { EnvironmentId } from "@inlet/protocol";
import { EVENT_FILTERS, type EventFilterQuery, eventFilter } from "../../api/events/events-routes.ts";
import { type EventNames, eventView } from "../../observe/event-view.ts";
import type { EventCursor, EventStore, FunctionStartStore, NewRun, StoredEvent } from "../../store/contract/index.ts";
import { type JobKind, PAGE_ITEMS } from "../job-kind.ts";
import { startedByJob } from "./started-by-job.ts";

export interface ReplayEventsParts {
  store: Pick<EventStore, "eventList"> & Pick<FunctionStartStore, "eventsAt">;
  /** What the event starts now. */
  replay(environmentId: EnvironmentId, event: StoredEvent, functionId: string | null): NewRun[];
  sourceName: EventNames["source"];
}

export function replayEvents({ store, replay, sourceName }: ReplayEventsParts): JobKind {
  return {
    kind: "events.replay",
    filters: EVENT_FILTERS,
    takesFunction: true,
    takesAll: true,
    async *find(environment, filter) {
      const params = { environmentId: environment.id, limit: PAGE_ITEMS, ...eventFilter(filter as EventFilterQuery) };
      const names = { environment: environment.name, source: sourceName };
      for (let after: EventCursor | null | undefined; after !== null; ) {
        const page = await store.eventList({ ...params, ...(after && { after }) });
        yield page.events.map((event) => ({ item: event.sequence, sample: () => eventView(event, names) }));
        after = page.next;
      }
    },
    async work(job, items) {
      const { environmentId, functionId } = job;
      const events = await store.eventsAt({ environmentId, sequences: items as readonly number[] });
      const present = new Set<unknown>(events.map(({ sequence }) => sequence));
      const gone = items.filter((item) => !present.has(item)).map(() => ({ item: null, message: "The event has been removed." }));
      const starts = events.flatMap((event) =>
        replay(environmentId, event, functionId).map((run) => ({ eventSequence: event.sequence, run: startedByJob(job, run) })),
      );
      return { starts, failures: gone };
    },
  };
}

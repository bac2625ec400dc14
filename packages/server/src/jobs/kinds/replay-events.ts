/** The kind events.replay: runs the functions subscribed now, or one of them, for events that are stored. The backfill for late subscribers. */

import type { EnvironmentId } from "@inlet/protocol";
import { EVENT_FILTERS } from "../../api/events/event-filters.ts";
import type { EventStore, FunctionStartStore, NewRun, StoredEvent } from "../../store/contract/index.ts";
import type { JobKind } from "../job-kind.ts";
import { type FindEventsParts, findEvents } from "./find-events.ts";
import { startedByJob } from "./started-by-job.ts";

export interface ReplayEventsParts extends FindEventsParts {
  store: Pick<EventStore, "eventList" | "eventGet"> & Pick<FunctionStartStore, "eventsAt">;
  /** What the event starts now. */
  replay(environmentId: EnvironmentId, event: StoredEvent, functionId: string | null): NewRun[];
}

export function replayEvents(parts: ReplayEventsParts): JobKind {
  const { store, replay } = parts;
  return {
    kind: "events.replay",
    filters: EVENT_FILTERS,
    takesFunction: true,
    takesAll: true,
    find: (environment, filter, cursor) => findEvents(parts, environment, filter, cursor),
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

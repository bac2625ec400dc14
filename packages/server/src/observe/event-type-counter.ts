/** Counts events by name, shortly after they are stored. */

import { inEachDatabase, type Store } from "../store/contract/index.ts";
import { EventFollower, type EventFollowerParts } from "./event-follower.ts";

/** After a start there may be many to count: lists may have to wait while the read thread counts one batch. */
const RANGE_EVENTS = 5_000;

export interface EventTypeCounterParts extends Pick<EventFollowerParts, "log"> {
  store: Store;
}

export function createEventTypeCounter({ store, log }: EventTypeCounterParts): EventFollower {
  const poll = () => inEachDatabase(store, async (one) => !(await one.eventTypeCount({ limit: RANGE_EVENTS })));
  return new EventFollower({ store, log, poll, what: "counts of event types", everyMs: 2_000, pollsMax: 40, askedMs: 15 });
}

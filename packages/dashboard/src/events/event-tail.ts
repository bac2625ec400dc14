/**
 * The newest events of a list, as the live stream delivers them. A tail is bounded. It has no gaps: it drops its oldest events and
 * counts them, so that whoever shows it knows that the list has to be continued below its last event.
 */

import type { EventItem } from "../api/types.ts";

export interface Tail {
  /** In the order of the list. */
  events: readonly EventItem[];
  /** How many older events it dropped; infinite: an unknown number. */
  dropped: number;
}

export const EMPTY_TAIL: Tail = { events: [], dropped: 0 };

/** The most events that a tail keeps. */
export const TAIL_MAX = 1_000;

/** Adds events in the order of their arrival. */
export function extendTail({ events, dropped }: Tail, arrived: readonly EventItem[], max = TAIL_MAX): Tail {
  const known = new Set(events.map(({ id }) => id));
  const oldest = events.at(-1);
  // Below a tail that dropped events, the list continues from the service.
  const isBelow = (event: EventItem) => dropped > 0 && oldest !== undefined && event.receivedAt < oldest.receivedAt;
  const added = arrived.filter((event) => !known.has(event.id) && !isBelow(event));
  const all = inListOrder([...added.toReversed(), ...events]);
  return { events: all.slice(0, max), dropped: dropped + Math.max(0, all.length - max) };
}

/** Puts the events of `newer` on top of `older`. */
export function joinTails(newer: Tail, older: Tail): Tail {
  if (newer.dropped > 0) return { events: newer.events, dropped: newer.dropped + older.events.length + older.dropped };
  return extendTail(older, newer.events.toReversed());
}

/** The order of the service's list: by the time of receipt, and of events received in the same millisecond, the last one first. */
function inListOrder(events: readonly EventItem[]): EventItem[] {
  return events.toSorted((a, b) => (a.receivedAt === b.receivedAt ? 0 : a.receivedAt < b.receivedAt ? 1 : -1));
}

/**
 * Sessions group runs. An event names them in `meta.sessions`; what a run starts (events, invoked and deferred functions) belongs to the run's
 * sessions too, unless its own `meta.sessions` says otherwise. The service settles which count.
 */

/** A name of your choice, such as "conversation", and an id. */
export type Sessions = Record<string, string>;

export interface EventMeta {
  /** At most five. Inside a run, null cuts off a session that would be handed on, and null for all of them cuts off every one. */
  sessions?: Readonly<Record<string, string | number | null>> | null | undefined;
}

/** What goes over the wire. */
export interface StampedMeta extends EventMeta {
  propagated_sessions?: Sessions;
}

/** Those in which all events of a run agree. */
export function sharedSessions([first, ...others]: readonly { meta?: { sessions?: Sessions | undefined } | undefined }[]): Sessions {
  const own = Object.entries(first?.meta?.sessions ?? {}).map(([name, id]): [string, string] => [name, String(id)]);
  return Object.fromEntries(own.filter(([name, id]) => others.every(({ meta }) => String(meta?.sessions?.[name]) === id)));
}

/** `meta` with the sessions of the run that hands it on. */
export function stampedMeta(meta: EventMeta | undefined, sessions: Sessions | undefined): StampedMeta | undefined {
  if (!sessions || Object.keys(sessions).length === 0) return meta;
  return { ...meta, propagated_sessions: { ...sessions } };
}

export function stampedEvent<Event extends { meta?: EventMeta | undefined }>(event: Event, sessions: Sessions | undefined): Event {
  const meta = stampedMeta(event.meta, sessions);
  return meta === event.meta ? event : { ...event, meta };
}

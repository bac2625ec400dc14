/**
 * Sessions group runs. An event names them in `meta.sessions`; what a run starts (events, invoked and deferred functions) also belongs to the
 * run's sessions, unless its own `meta.sessions` says otherwise. The service determines the result.
 */

/** A name of your choice, such as "conversation", and an id. */
export type Sessions = Record<string, string>;

export interface EventMeta {
  /** At most five. Inside a run, null removes a session that would be propagated, and null for all of them removes every one. */
  sessions?: Readonly<Record<string, string | number | null>> | null | undefined;
}

/** The form sent to the service. */
export interface StampedMeta extends EventMeta {
  propagated_sessions?: Sessions;
}

/** The sessions in which all events of a run agree. */
export function sharedSessions([first, ...others]: readonly { meta?: { sessions?: Sessions | undefined } | undefined }[]): Sessions {
  const own = Object.entries(first?.meta?.sessions ?? {}).map(([name, id]): [string, string] => [name, String(id)]);
  return Object.fromEntries(own.filter(([name, id]) => others.every(({ meta }) => String(meta?.sessions?.[name]) === id)));
}

/** `meta` with the propagated sessions of the run. */
export function stampedMeta(meta: EventMeta | undefined, sessions: Sessions | undefined): StampedMeta | undefined {
  if (!sessions || Object.keys(sessions).length === 0) return meta;
  return { ...meta, propagated_sessions: { ...sessions } };
}

export function stampedEvent<Event extends { meta?: EventMeta | undefined }>(event: Event, sessions: Sessions | undefined): Event {
  const meta = stampedMeta(event.meta, sessions);
  return meta === event.meta ? event : { ...event, meta };
}

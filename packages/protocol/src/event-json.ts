/** An event as functions receive it: as sent, with the sender's id or, without one, the Event ID. */

export interface DeliveredEvent {
  id: string;
  name: string;
  ts: number;
  dedupId: string | null;
  /** JSON text of an object. */
  data: string;
  /** JSON text of an object, or null. */
  extras: string | null;
}

/** JSON text. Payloads are included as written. */
export function eventJson({ id, name, data, ts, dedupId, extras }: DeliveredEvent): string {
  const own = `"data":${data},"id":${JSON.stringify(dedupId ?? id)},"name":${JSON.stringify(name)},"ts":${ts}`;
  // Of two members with the same name, the last is used: the service's own take precedence.
  return extras === null || extras === "{}" ? `{${own}}` : `${extras.slice(0, extras.lastIndexOf("}"))},${own}}`;
}

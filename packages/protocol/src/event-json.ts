/** An event as functions receive it: as it was sent, with the id the sender gave it or else the Event ID. */

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

/** JSON text. Payloads go in as they were written. */
export function eventJson({ id, name, data, ts, dedupId, extras }: DeliveredEvent): string {
  const own = `"data":${data},"id":${JSON.stringify(dedupId ?? id)},"name":${JSON.stringify(name)},"ts":${ts}`;
  // The last of two members with one name counts: the service's own win.
  return extras === null || extras === "{}" ? `{${own}}` : `${extras.slice(0, extras.lastIndexOf("}"))},${own}}`;
}

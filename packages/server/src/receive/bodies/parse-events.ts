/** Parses the bytes of a body to valid events, or to a refusal that lists every fault. */

import { isUtf8 } from "node:buffer";
import {
  EVENTS_PER_REQUEST_MAX,
  FAULTS_REPORTED_MAX,
  type Fault,
  type JsonMember,
  type ReadEventOptions,
  Refusal,
  readEvent,
  type SentEvent,
  scanJson,
} from "@inlet/protocol";

export function parseEvents(body: Buffer, options: ReadEventOptions = { dataOptional: false }): SentEvent[] | Refusal {
  if (!isUtf8(body)) return new Refusal("body_invalid", "The body is not valid UTF-8.");
  const text = withoutByteOrderMark(body.toString());
  // As many characters as bytes: every character is one byte, so the bytes can be scanned instead.
  const scanned = text.length === body.length ? scanJson(text, body) : scanJson(text);
  if (!scanned) return whyNot(text);
  if ("object" in scanned) return readEvents(text, [scanned.object], { ...options, isArray: false });
  const count = scanned.elements.length;
  if (count === 0) return new Refusal("events_missing", "The array contains no events.");
  if (count > EVENTS_PER_REQUEST_MAX) {
    return new Refusal("events_too_many", `A request may contain at most ${EVENTS_PER_REQUEST_MAX} events; this one contains ${count}.`);
  }
  return readEvents(text, scanned.elements, { ...options, isArray: true });
}

/** `events` are the members of each event; null stands for a value that is not an object. The fault of a single event names no position. */
function readEvents(
  text: string,
  events: readonly (JsonMember[] | null)[],
  { isArray, ...options }: ReadEventOptions & { isArray: boolean },
): SentEvent[] | Refusal {
  const read: SentEvent[] = [];
  const faults: Fault[] = [];
  for (let index = 0; index < events.length; index++) {
    const event = readEvent(text, events[index] ?? null, (field, message) => faults.push({ index, field, message }), options);
    if (event) read.push(event);
  }
  const [first] = faults;
  if (!first) return read;
  const more = faults.length > 1 ? ` (and ${faults.length - 1} more)` : "";
  const path = [...(isArray ? [`events[${first.index}]`] : []), ...(first.field === "event" ? [] : [first.field])].join(".");
  const message = `${path} ${first.message}${more}. Nothing was stored.`;
  return new Refusal("event_invalid", message, faults.slice(0, FAULTS_REPORTED_MAX));
}

/** Why the scanner refused a text, as reported by JSON.parse. */
function whyNot(text: string): Refusal {
  try {
    JSON.parse(text);
    return new Refusal("body_invalid", "The body must be an event object or an array of event objects.");
  } catch (error) {
    if (text.trim() === "") return new Refusal("events_missing", "The body is empty.");
    return new Refusal("body_invalid", `The body is not JSON: ${(error as Error).message}`);
  }
}

function withoutByteOrderMark(text: string): string {
  return text.charCodeAt(0) === 0xfeff ? text.slice(1) : text;
}

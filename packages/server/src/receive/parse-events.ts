/** From the bytes of a body to events that keep every rule, or a refusal that names each fault. */

import { isUtf8 } from "node:buffer";
import {
  EVENTS_PER_REQUEST_MAX,
  FAULTS_REPORTED_MAX,
  type Fault,
  type JsonMember,
  jsonElementsMembers,
  jsonMembers,
  Refusal,
} from "@inlet/protocol";
import { readEvent, type SentEvent } from "./read-event.ts";

export function parseEvents(body: Buffer): SentEvent[] | Refusal {
  if (!isUtf8(body)) return new Refusal("body_invalid", "The body is not valid UTF-8.");
  const text = withoutByteOrderMark(body.toString());
  const parsed = parseJson(text);
  if (parsed instanceof Refusal) return parsed;
  const { value } = parsed;
  if (typeof value !== "object" || value === null) {
    return new Refusal("body_invalid", "The body must be an event object or an array of event objects.");
  }
  if (!Array.isArray(value)) return readEvents(text, [value], [jsonMembers(text)]);
  if (value.length === 0) return new Refusal("events_missing", "The array holds no events.");
  if (value.length > EVENTS_PER_REQUEST_MAX) {
    return new Refusal("events_too_many", `A request may carry ${EVENTS_PER_REQUEST_MAX} events, this one carries ${value.length}.`);
  }
  return readEvents(text, value, jsonElementsMembers(text));
}

function readEvents(text: string, values: readonly unknown[], members: readonly (JsonMember[] | null)[]): SentEvent[] | Refusal {
  const events: SentEvent[] = [];
  const faults: Fault[] = [];
  for (let index = 0; index < values.length; index++) {
    const event = readEvent(text, values[index], members[index] ?? null, (field, message) => faults.push({ index, field, message }));
    if (event) events.push(event);
  }
  if (faults.length === 0) return events;
  const [first] = faults;
  const more = faults.length > 1 ? ` (and ${faults.length - 1} more)` : "";
  const message = `Event ${first?.index}: ${first?.field} ${first?.message}${more}. Nothing was stored.`;
  return new Refusal("event_invalid", message, faults.slice(0, FAULTS_REPORTED_MAX));
}

function parseJson(text: string): { value: unknown } | Refusal {
  try {
    return { value: JSON.parse(text) };
  } catch (error) {
    if (text.trim() === "") return new Refusal("events_missing", "The body is empty.");
    return new Refusal("body_invalid", `The body is not JSON: ${(error as Error).message}`);
  }
}

function withoutByteOrderMark(text: string): string {
  return text.charCodeAt(0) === 0xfeff ? text.slice(1) : text;
}

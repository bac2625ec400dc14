/** The search for a piece of text in an event's name or payload, in any case. */

import type { StoredEvent } from "../contract/index.ts";

export function payloadContains(event: StoredEvent, text: string): boolean {
  const wanted = text.toLowerCase();
  return [event.name, event.data, event.extras].some((part) => part !== null && contains(part, wanted));
}

/**
 * People search for what they see, senders write JSON in many ways: `"caf\u00e9"` is found as `café` and `{"a": 1}` as
 * `"a":1`. The text as sent is tried first, so that numbers beyond double precision are found as well.
 */
function contains(json: string, wanted: string): boolean {
  if (json.toLowerCase().includes(wanted)) return true;
  if (!/[\s\\]/.test(json)) return false;
  return compact(json).toLowerCase().includes(wanted);
}

/** A name is no JSON, and fields other than data may nest deeper than JSON.stringify can follow: these have only their own text. */
function compact(json: string): string {
  try {
    return JSON.stringify(JSON.parse(json)) ?? "";
  } catch {
    return "";
  }
}

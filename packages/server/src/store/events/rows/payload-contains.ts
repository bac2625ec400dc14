/** Case-insensitive search for text in what the sender sent: name, id and payload. */

import type { StoredEvent } from "../../contract/index.ts";

export function payloadContains(event: StoredEvent, text: string): boolean {
  const wanted = text.toLowerCase();
  return [event.name, event.dedupId, event.data, event.extras].some((part) => part !== null && jsonContains(part, wanted));
}

/**
 * People search for what they see, but senders write JSON in many ways: `"caf\u00e9"` is found as `café`, and `{"a": 1}` as
 * `"a":1`. `wanted` is in lower case. The text as sent is tried first, so that numbers beyond double precision are found too.
 */
export function jsonContains(json: string, wanted: string): boolean {
  if (json.toLowerCase().includes(wanted)) return true;
  if (!/[\s\\]/.test(json)) return false;
  return compact(json).toLowerCase().includes(wanted);
}

/** A name or an id is not JSON, and fields other than data may nest deeper than JSON.stringify supports: only their own text is searched. */
function compact(json: string): string {
  try {
    return JSON.stringify(JSON.parse(json)) ?? "";
  } catch {
    return "";
  }
}

/**
 * A copy of an event: the original JSON text, and a seed that produces the same Event ID at the target. A copy that is
 * sent twice is therefore the same event.
 */

import { EVENT_ID_SEED_HEADER, type JsonMember, joinMembers, jsonMembers, seedHeaderOf } from "@inlet/protocol";

/** Fields that the service adds to an event. */
const SERVICE_FIELDS: ReadonlySet<string> = new Set(["id", "receivedAt", "environment", "source", "duplicates", "dedupId", "runs"]);

export interface EventCopy {
  id: string;
  name: string;
  body: string;
  /** Alternating names and values. */
  headers: string[];
}

/** `text` is an event from the REST API. */
export function copyOf(text: string): EventCopy {
  const members = jsonMembers(text);
  const { id, name } = JSON.parse(
    joinMembers(
      text,
      members.filter(({ key }) => key === "id" || key === "name"),
    ),
  ) as EventCopy;
  const sent = members.filter(({ key }) => !SERVICE_FIELDS.has(key));
  const dedupId = members.find(({ key }) => key === "dedupId");
  const fields: JsonMember[] = dedupId ? [...sent, { ...dedupId, key: "id" }] : sent;
  return {
    id,
    name,
    body: joinMembers(text, fields),
    headers: ["Content-Type", "application/json", EVENT_ID_SEED_HEADER, seedHeaderOf(id)],
  };
}

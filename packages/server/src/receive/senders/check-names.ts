/** Checks the event names of a request against the list of its key or webhook. */

import { type AcceptList, FAULTS_REPORTED_MAX, nameAllowed, Refusal, type SentEvent } from "@inlet/protocol";

export function checkNames(list: AcceptList | null, events: readonly SentEvent[]): Refusal | null {
  if (list === null) return null;
  const faults = events.flatMap(({ name }, index) =>
    nameAllowed(list, name) ? [] : [{ index, field: "name", message: `"${name}" is not allowed by the list of this key or webhook` }],
  );
  const [first] = faults;
  if (!first) return null;
  const place = events.length > 1 ? `events[${first.index}].name: ` : "";
  return new Refusal("event_name_denied", `${place}${first.message}.`, faults.slice(0, FAULTS_REPORTED_MAX));
}

/** Holds the event names of a request against the list of its key. */

import { type AcceptList, FAULTS_REPORTED_MAX, nameAdmitted, Refusal, type SentEvent } from "@inlet/protocol";

export function checkNames(list: AcceptList | null, events: readonly SentEvent[]): Refusal | null {
  if (!list) return null;
  const faults = events.flatMap(({ name }, index) =>
    nameAdmitted(list, name) ? [] : [{ index, field: "name", message: `"${name}" is not let through by the list of this key` }],
  );
  if (faults.length === 0) return null;
  return new Refusal("event_name_denied", `Event ${faults[0]?.index}: ${faults[0]?.message}.`, faults.slice(0, FAULTS_REPORTED_MAX));
}

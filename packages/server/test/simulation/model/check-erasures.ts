/**
 * What was erased is nowhere in the store, in no table and no index, unless it came after the list of what to erase was made. Its
 * event is still there, without its data. Runs of others are judged as if nothing had been erased.
 */

import type { ErasureNote } from "../journal-notes.ts";
import type { Evidence } from "./evidence.ts";

type Fault = (message: string) => void;

export function checkErasures(evidence: Evidence, fault: Fault): void {
  const { journal, traces } = evidence.played;
  for (const note of journal.erasures) {
    const told = (message: string) => fault(`event ${note.n} was erased: ${message}`);
    const event = evidence.erasedEvent(note.eventId);
    if (!event) told("it is gone, or still has its data");
    if (traces.includes(note.n) && !isSentLater(evidence, note)) told("it is still in the store");
  }
}

/** Over a network, what was received before may be stored after. */
function isSentLater(evidence: Evidence, { n, askedAt }: ErasureNote): boolean {
  return evidence.played.events.some((event) => evidence.isStoredAfter(event, askedAt) && event.data.includes(String(n)));
}

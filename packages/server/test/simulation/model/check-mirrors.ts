/**
 * Every event of a webhook is stored once, delivered or recovered, and once for each replay if it has no id; and its copy once in the branch environment, with the webhook as its
 * source; nothing else is there. What the copies start is judged as everything else, see simulate.ts.
 */

import { mirroredSource, readReconciled } from "../../../src/store/contract/index.ts";
import { DRILLED_EVENT } from "../deeds/drills.ts";
import type { DeliveryNote } from "../journal-notes.ts";
import { replaysOf } from "./check-replays.ts";
import { dataOf, type Evidence } from "./evidence.ts";

export function checkMirrors(evidence: Evidence, copies: Evidence, fault: (message: string) => void): void {
  const { journal, events } = evidence.played;
  const isInternal = ({ name }: { name: string }) => name.startsWith("inngest/") || name.startsWith("inlet/");
  const mirrored = copies.played.events.filter((event) => !isInternal(event) && event.name !== DRILLED_EVENT);
  let copied = 0;
  for (const note of journal.delivered) {
    const { n, name, isLost } = note;
    const stored = events.filter((event) => event.name === name && dataOf(event).n === n && event.source.kind === "webhook");
    const found = mirrored.filter((event) => dataOf(event).n === n);
    copied += stored.length;
    checkCounts(evidence, note, stored.length, found.length, fault);
    const [original] = stored;
    if (!original) continue;
    const { source, isReconciled } = readReconciled(original.source);
    if (isLost && !isReconciled) fault(`request ${n} was never delivered, and its event does not say that it was recovered`);
    for (const copy of found) {
      if (copy.data !== original.data || copy.name !== name || !stored.some(({ ts }) => ts === copy.ts))
        fault(`event ${n} of a webhook was mirrored otherwise`);
      if (copy.source.id !== mirroredSource(source.id).id) fault(`the copy of event ${n} has the source ${copy.source.id}`);
    }
  }
  if (mirrored.length > copied) fault(`${mirrored.length} events were mirrored of ${copied}`);
}

/** What is replayed is not mirrored. A request that a transform refused is stored by its replay, or with an id by a pass before that. */
function checkCounts(evidence: Evidence, note: DeliveryNote, stored: number, copies: number, fault: (message: string) => void): void {
  const { n, isRefused, timesMax } = note;
  const replays = replaysOf(evidence, note);
  const least = Math.max(1, (isRefused ? 0 : 1) + replays.least);
  if (stored > timesMax + replays.most || stored < least) fault(`request ${n} of a webhook is stored ${stored} times`);
  const mirroredLeast = isRefused || replays.mayRecover ? 0 : stored - replays.most;
  if (copies < mirroredLeast || copies > stored - replays.least) fault(`event ${n} of a webhook was mirrored ${copies} times`);
}

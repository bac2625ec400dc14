/**
 * Every event of a webhook is stored once, delivered or recovered, and its copy once in the branch environment, with the webhook as its
 * source; nothing else is there. What the copies start is judged as everything else, see simulate.ts.
 */

import { mirroredSource, readReconciled } from "../../../src/store/contract/index.ts";
import { dataOf, type Evidence } from "./evidence.ts";

export function checkMirrors(evidence: Evidence, copies: Evidence, fault: (message: string) => void): void {
  const { journal, events } = evidence.played;
  const isInternal = ({ name }: { name: string }) => name.startsWith("inngest/") || name.startsWith("inlet/");
  const mirrored = copies.played.events.filter((event) => !isInternal(event));
  let copied = 0;
  for (const { n, name, isLost, timesMax } of journal.delivered) {
    const stored = events.filter((event) => event.name === name && dataOf(event).n === n && event.source.kind === "webhook");
    copied += stored.length;
    const [original] = stored;
    if (stored.length > timesMax || !original) {
      fault(`request ${n} of a webhook is stored ${stored.length} times`);
      continue;
    }
    const { source, isReconciled } = readReconciled(original.source);
    if (isLost && !isReconciled) fault(`request ${n} was never delivered, and its event does not say that it was recovered`);
    const found = mirrored.filter((event) => dataOf(event).n === n);
    if (found.length !== stored.length) fault(`event ${n} of a webhook was mirrored ${found.length} times`);
    for (const copy of found) {
      if (copy.data !== original.data || copy.name !== name || !stored.some(({ ts }) => ts === copy.ts))
        fault(`event ${n} of a webhook was mirrored otherwise`);
      if (copy.source.id !== mirroredSource(source.id).id) fault(`the copy of event ${n} has the source ${copy.source.id}`);
    }
  }
  if (mirrored.length > copied) fault(`${mirrored.length} events were mirrored of ${copied}`);
}

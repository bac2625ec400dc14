/**
 * Every event of a webhook is stored once, and its copy once in the branch environment, with the webhook as its source; nothing else is
 * there. What the copies start is judged as everything else, see simulate.ts.
 */

import { mirroredSource } from "../../../src/store/contract/index.ts";
import { dataOf, type Evidence } from "./evidence.ts";

export function checkMirrors(evidence: Evidence, copies: Evidence, fault: (message: string) => void): void {
  const { journal, events } = evidence.played;
  const isInternal = ({ name }: { name: string }) => name.startsWith("inngest/") || name.startsWith("inlet/");
  const mirrored = copies.played.events.filter((event) => !isInternal(event));
  for (const { n, name } of journal.delivered) {
    const stored = events.filter((event) => event.name === name && dataOf(event).n === n && event.source.kind === "webhook");
    const [original] = stored;
    if (stored.length !== 1 || !original) {
      fault(`request ${n} of a webhook is stored ${stored.length} times`);
      continue;
    }
    const found = mirrored.filter((event) => dataOf(event).n === n);
    if (found.length !== 1) fault(`event ${n} of a webhook was mirrored ${found.length} times`);
    for (const copy of found) {
      if (copy.data !== original.data || copy.name !== name || copy.ts !== original.ts)
        fault(`event ${n} of a webhook was mirrored otherwise`);
      if (copy.source.id !== mirroredSource(original.source.id).id) fault(`the copy of event ${n} has the source ${copy.source.id}`);
    }
  }
  if (mirrored.length > journal.delivered.length) fault(`${mirrored.length} events were mirrored of ${journal.delivered.length}`);
}

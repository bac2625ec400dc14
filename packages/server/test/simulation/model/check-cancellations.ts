/** A bulk cancellation cancels the runs that were there when it was asked for, those of its key if it has one, and no others. */

import type { RunDetails } from "../../../src/store/contract/index.ts";
import type { CancellationNote } from "../journal-notes.ts";
import type { Evidence } from "./evidence.ts";

export function checkCancellations(evidence: Evidence, fault: (message: string) => void): void {
  for (const note of evidence.played.journal.cancellations) {
    const { endedAt } = note;
    if (endedAt === null) continue;
    const left = evidence
      .runsOf(note.functionId)
      .filter((run) => isCovered(evidence, note, run) && isStored(evidence, note, run) && !evidence.isGone(run, endedAt))
      .filter((run) => (run.endedAt ?? Number.POSITIVE_INFINITY) > endedAt);
    for (const run of left.slice(0, 3)) fault(`${evidence.describe(run)} went on after all were cancelled that had been created`);
  }
}

/** One that was asked for says that it has cancelled the run. */
export function isCancelledInBulk(evidence: Evidence, run: RunDetails): boolean {
  return evidence.played.journal.cancellations.some(
    (note) => run.error?.message === `It was cancelled by the bulk cancellation ${note.id}.` && isCovered(evidence, note, run),
  );
}

function isCovered(evidence: Evidence, { functionId, key, createdAt }: CancellationNote, run: RunDetails): boolean {
  return functionId === evidence.functionId(run) && run.createdAt < createdAt && (key === null || evidence.dataOf(run).k === key);
}

/** In virtual time, storing takes none. */
function isStored(evidence: Evidence, { createdAt }: CancellationNote, run: RunDetails): boolean {
  return evidence.played.scenario.isRealTime ? evidence.storedBy(run) < createdAt : run.createdAt < createdAt - evidence.jumbleMs;
}

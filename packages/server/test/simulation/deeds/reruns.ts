/** Runs that have ended are rerun. */

import type { RunId } from "@inlet/protocol";
import { ERASED_DATA } from "../../../src/store/erasure/policy.ts";
import type { Random } from "../random.ts";
import { now } from "../virtual-time.ts";
import type { SimRerun } from "./deeds.ts";
import { type DeedParts, SPAN_MS } from "./doing.ts";

export function generateReruns(random: Random): SimRerun[] {
  return Array.from({ length: random.pick([0, 2, 4]) }, () => ({
    atMs: random.int(SPAN_MS / 10, SPAN_MS * 1.5),
    pick: random.int(0, 999),
    step: random.chance(0.3) ? null : random.int(0, 99),
  }));
}

/** Once, of a run that has ended: whether it was done is not known where the service goes away. */
export async function rerun({ journal, nextNode }: DeedParts, { pick, step }: SimRerun): Promise<void> {
  const ended = [...journal.endedRuns];
  const id = ended[pick % ended.length] as RunId | undefined;
  if (id === undefined) return;
  const done = nextNode().operate(async ({ functions, store, environment }) => {
    const run = await store.runGet({ environmentId: environment.id, id });
    if (!run) throw new Error(`there is no run ${id}`);
    // Its app may be removed.
    if (run.cron !== null) return;
    const readEvent = () => store.eventAt({ environmentId: environment.id, sequence: run.eventSequence });
    const event = await readEvent();
    // Nobody runs again what was erased.
    if (event?.data === ERASED_DATA) return;
    const from = step === null ? null : (run.steps[step % Math.max(run.steps.length, 1)]?.id ?? null);
    const note = journal.noteRerun(id, from);
    note.newId = await functions.runs.rerun(run, from ?? undefined);
    note.doneAt = now();
    // Retention may have removed the event meanwhile.
    if (note.newId === null && (await readEvent())) journal.fault(`run ${id} could not be rerun`);
  });
  await done.catch(() => undefined);
}

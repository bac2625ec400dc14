/** Sleeps that are ended early, by two people at once. */

import type { Random } from "../random.ts";
import type { SimWake } from "./deeds.ts";
import { type DeedParts, SPAN_MS } from "./doing.ts";

export function generateWakes(random: Random): SimWake[] {
  return Array.from({ length: random.pick([0, 3, 8]) }, () => ({ atMs: random.int(1, SPAN_MS * 1.5), pick: random.int(0, 99) }));
}

const LISTED = 20;

/** Once: whether it was done is not known where the service goes away. Only one of the two may have woken the run. */
export async function wake({ journal, nextNode }: DeedParts, { pick }: SimWake): Promise<void> {
  const done = nextNode().operate(async ({ functions, store, environment }) => {
    const { runs } = await store.runList({ environmentId: environment.id, status: "sleeping", limit: LISTED });
    const id = runs[pick % Math.max(runs.length, 1)]?.id;
    const run = id === undefined ? null : await store.runGet({ environmentId: environment.id, id });
    const step = run?.steps.find(({ status }) => status === "sleeping");
    if (!run || !step) return;
    journal.woken.add(`${run.id}/${step.id}`);
    const woken = await Promise.all([functions.runs.wake(run, step.id), functions.runs.wake(run, step.id)]);
    if (woken.every((isWoken) => isWoken)) journal.fault(`the sleep ${step.name} of run ${run.id} was ended twice`);
  });
  await done.catch(() => undefined);
}

/** Something is done for all runs of a function, or for all events of its trigger. */

import type { Random } from "../random.ts";
import { fullId, type SimFunction } from "../scenario.ts";
import type { SimJob } from "./deeds.ts";
import { type DeedParts, SPAN_MS } from "./doing.ts";

/** Of functions that events start, and few: a job starts as many runs as they have. */
export function generateJobs(random: Random, functions: readonly SimFunction[]): SimJob[] {
  return Array.from({ length: random.pick([0, 0, 1, 2]) }, () => ({
    atMs: random.int(SPAN_MS / 10, SPAN_MS),
    kind: random.pick(["runs.cancel", "runs.rerun", "events.replay"] as const),
    fn: random.pick(functions.filter(({ trigger }) => trigger !== null)).id,
  }));
}

/** Once: whether it was done is not known where the service goes away. */
export async function startJob({ journal, nextNode, scenario }: DeedParts, { kind, fn: id }: SimJob): Promise<void> {
  const fn = scenario.functions.find((candidate) => candidate.id === id);
  if (!fn?.trigger) return;
  const functionId = fullId(fn);
  const isReplay = kind === "events.replay";
  const request = isReplay ? { filter: { name: fn.trigger.event }, function: functionId } : { filter: { function: functionId } };
  const done = nextNode().operate(async ({ jobs, environment }) => {
    const note = journal.noteJob(kind, functionId);
    note.id = (await jobs.create(environment, { kind, ...request })).id;
  });
  await done.catch(() => undefined);
}

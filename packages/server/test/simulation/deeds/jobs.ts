/** Something is done for all runs of a function, or for all events of its trigger. Some of these jobs are cancelled before their end. */

import type { JobId } from "@inlet/protocol";
import type { Job } from "../../../src/store/contract/index.ts";
import type { JobNote } from "../journal-notes.ts";
import type { Random } from "../random.ts";
import { fullId, type SimFunction } from "../scenario.ts";
import { now, pass } from "../virtual-time.ts";
import type { SimJob } from "./deeds.ts";
import { type DeedParts, RESEND_MS, SPAN_MS, untilDone } from "./doing.ts";

/** Of functions that events start, and few: a job starts as many runs as they have. */
export function generateJobs(random: Random, functions: readonly SimFunction[], { isCancelled = true } = {}): SimJob[] {
  return Array.from({ length: random.pick([0, 0, 1, 2]) }, () => ({
    atMs: random.int(SPAN_MS / 10, SPAN_MS),
    kind: random.pick(["runs.cancel", "runs.rerun", "events.replay"] as const),
    fn: random.pick(functions.filter(({ trigger }) => trigger !== null)).id,
    ...(isCancelled && random.chance(0.5) && { rate: random.pick([5, 20, 100]), cancelAfterMs: random.pick([0, 100, 500, 2_000]) }),
  }));
}

/** Once: whether it was done is not known where the service goes away. */
export async function startJob(parts: DeedParts, { kind, fn: id, rate, cancelAfterMs }: SimJob): Promise<void> {
  const { journal, nextNode, scenario } = parts;
  const fn = scenario.functions.find((candidate) => candidate.id === id);
  if (!fn?.trigger) return;
  const functionId = fullId(fn);
  const isReplay = kind === "events.replay";
  const request = isReplay ? { filter: { name: fn.trigger.event }, function: functionId } : { filter: { function: functionId } };
  const asked = nextNode().operate(async ({ jobs, environment }) => {
    const note = journal.noteJob(kind, functionId);
    note.id = (await jobs.create(environment, { kind, ...request, ...(rate !== undefined && { rate }) })).id;
    return note;
  });
  const note = await asked.catch(() => null);
  if (note && cancelAfterMs !== undefined) await cancelJob(parts, note, cancelAfterMs);
}

/** Until the service has said what became of the job: cancelled, now or by a request before whose answer was lost, or ended by itself. */
export async function cancelJob(parts: DeedParts, note: JobNote, afterMs: number): Promise<void> {
  const { id } = note;
  if (id === null) return;
  await pass(afterMs);
  const cancel: NonNullable<JobNote["cancel"]> = { askedAt: now(), told: null };
  note.cancel = cancel;
  await untilDone(parts, async ({ store, environment: { id: environmentId } }) => {
    const job = await store.jobEnd({ environmentId, id, status: "cancelled", now: now() });
    if (!job) throw new Error(`job ${id} is not there`);
    cancel.told = job;
  });
}

/** The job when it has ended. */
export async function untilEnded(parts: DeedParts, id: JobId): Promise<Job> {
  for (;;) {
    const found: Job[] = [];
    await untilDone(parts, async ({ store, environment: { id: environmentId } }) => {
      const job = await store.jobGet({ environmentId, id });
      if (!job) throw new Error(`job ${id} is not there`);
      found.push(job);
    });
    const [job] = found as [Job];
    if (job.endedAt !== null) return job;
    await pass(RESEND_MS);
  }
}

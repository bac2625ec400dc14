/** What an erasure covers: shared by the engines, which only read and write. */

/** Internal events that contain the events of the run they report on. */
export const REPEATING_EVENT_NAMES = ["inngest/function.failed", "inngest/function.cancelled", "inngest/function.finished"] as const;

/** A run waits for what becomes of it, so the start is decided before the event is erased. */
export const INVOCATION_EVENT_NAME = "inngest/function.invoked";

export const ERASED_DATA = "{}";
export const ERASED_ERROR = JSON.stringify({ name: "Erased", message: "Erased on request." });

export interface ErasedRun {
  run_no: number;
  ended_at: number | null;
  /** One of its calls is in progress. */
  is_calling: boolean | number;
}

export interface ErasureReads {
  runsOf(sequences: readonly number[]): Promise<ErasedRun[]> | ErasedRun[];
  /** Internal events about these runs, and events with which these runs invoked others. */
  eventsAfter(runNos: readonly number[]): Promise<number[]> | number[];
}

export interface ErasureScope {
  sequences: number[];
  runs: ErasedRun[];
}

/** A run's internal events may start further runs: collects everything that is reachable. */
export async function erasureScope(reads: ErasureReads, given: readonly number[]): Promise<ErasureScope> {
  const walk = erasureWalk(given);
  for (let step = walk.next(); ; step = walk.next(await reads[step.value.read](step.value.of))) if (step.done) return step.value;
}

/** The synchronous form, for reads within a transaction. */
export function erasureScopeNow(reads: ErasureReads, given: readonly number[]): ErasureScope {
  const walk = erasureWalk(given);
  for (let step = walk.next(); ; step = walk.next(reads[step.value.read](step.value.of) as ErasedRun[] & number[]))
    if (step.done) return step.value;
}

type Asked = { read: keyof ErasureReads; of: readonly number[] };

function* erasureWalk(given: readonly number[]): Generator<Asked, ErasureScope, ErasedRun[] | number[]> {
  const sequences = new Set(given);
  const runs = new Map<number, ErasedRun>();
  for (let fresh = [...sequences]; fresh.length > 0; ) {
    const found = ((yield { read: "runsOf", of: fresh }) as ErasedRun[]).filter(({ run_no }) => !runs.has(run_no));
    for (const run of found) runs.set(run.run_no, run);
    if (found.length === 0) break;
    const after = (yield { read: "eventsAfter", of: found.map(({ run_no }) => run_no) }) as number[];
    fresh = after.filter((sequence) => !sequences.has(sequence));
    for (const sequence of fresh) sequences.add(sequence);
  }
  return { sequences: [...sequences], runs: [...runs.values()] };
}

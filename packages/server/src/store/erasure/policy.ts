/** What an erasure covers: shared by the engines, which only read and write. */

import type { RunId, RunNo } from "@inlet/protocol";
import type { ErasureOutcome } from "../contract/index.ts";

/** Internal events that are written at the end of a run, and contain its events or what its code made of them. */
export const REPEATING_EVENT_NAMES = [
  "inlet/function.failed",
  "inngest/function.failed",
  "inngest/function.cancelled",
  "inngest/function.finished",
  "inngest/deferred.schedule",
] as const;

/** Internal events about an approval. Their data begins with its id: `{"id":"01…`. */
export const APPROVAL_EVENT_NAMES = ["inlet/approval.requested", "inlet/approval.decided"] as const;
export const APPROVAL_ID_FROM = '{"id":"'.length + 1;
export const APPROVAL_ID_UNITS = 26;

export const ERASED_DATA = "{}";
export const ERASED_ERROR = JSON.stringify({ name: "Erased", message: "Erased on request." });
/** What a run that invoked an erased one has left of its result. */
export const ERASED_RESULT = '{"data":null}';
export const ERASED_FAILURE = `{"error":${ERASED_ERROR}}`;

export interface ErasedRun {
  run_no: number;
  run_id: string;
  ended_at: number | null;
  /** One of its calls is in progress, or its result has not reached the run that invoked it. */
  is_calling: boolean | number;
}

export interface ErasureReads {
  /** Runs that these events started, or whose waits they ended. */
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

/** A recorded request that led to an erased event. */
export interface LinkedRequest {
  environment_id: number;
  webhook_id: string;
  query: string;
  body: string;
  body_base64: string | null;
}

/** A refused request with this content is a copy of an erased one: it was replayed, sent again, or found in what the provider lists. */
export interface RefusedCopy {
  environmentId: number;
  webhookId: string;
  /** The body in both forms in which a record contains it: as base64 only if its text does not represent the bytes. */
  text: string;
  base64: string;
  /** Set if the body is empty: then the content is in the query. */
  query: string | null;
}

export function refusedCopies(linked: readonly LinkedRequest[]): RefusedCopy[] {
  return linked.map(({ environment_id, webhook_id, query, body, body_base64 }) => {
    const bytes = body_base64 === null ? Buffer.from(body) : Buffer.from(body_base64, "base64");
    return {
      environmentId: environment_id,
      webhookId: webhook_id,
      text: bytes.toString(),
      base64: bytes.toString("base64"),
      query: bytes.length === 0 ? query : null,
    };
  });
}

/** `deciding`: how many starts are still to be decided. */
export function erasureOutcome({ sequences, runs }: ErasureScope, deciding: number): ErasureOutcome {
  const numbers = (wanted: (run: ErasedRun) => boolean) => runs.filter(wanted).map(({ run_no }) => run_no as RunNo);
  return {
    unfinished: numbers(({ ended_at }) => ended_at === null),
    calling: numbers(({ ended_at, is_calling }) => ended_at !== null && Boolean(is_calling)),
    deciding,
    sequences,
    runIds: runs.map(({ run_id }) => run_id as RunId),
    eventIds: [],
  };
}

/** Nothing is left to wait for. */
export function mayErase({ unfinished, calling, deciding }: Pick<ErasureOutcome, "unfinished" | "calling" | "deciding">): boolean {
  return unfinished.length + calling.length + deciding === 0;
}

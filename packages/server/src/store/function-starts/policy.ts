/** How long marks are kept, and the entry that asks for a start. */

import type { EnvironmentId, FunctionNo, RunNo } from "@inlet/protocol";
import { type FunctionStartChange, type MarkKey, type NewStart, TIMER_LANE } from "../contract/index.ts";
import type { EntryWrite } from "../queue/policy/lease-allocation.ts";

/** A singleton's mark is needed as long as the run it names is active, so it is examined again after this time. */
const HELD_MARK_MS = 86_400_000;

/** Until when the mark of a singleton is kept that names an active run. */
export function heldMarkExpiresAt(now: number): number {
  return now + HELD_MARK_MS;
}

/** The run that keeps an expired mark while it is active: that of a singleton. Null: the mark can be removed. */
export function runKeepingMark({ kind, value }: { kind: MarkKey["kind"]; value: string }): RunNo | null {
  return kind === "singleton" ? (Number(value) as RunNo) : null;
}

/** A function with rules about its starts: the decision is made when this entry is processed. */
export function startEntry(environmentId: EnvironmentId, eventSequence: number, { functionNo, dueAt }: NewStart): EntryWrite {
  return {
    environmentId,
    functionNo,
    dueAt,
    eventSequence,
    kind: "start",
    lane: TIMER_LANE,
    rank: dueAt,
    runNo: null,
    stepId: null,
    attempt: 0,
    subject: null,
  };
}

/** The entry of a batch or debounce: it is due when the batch is complete or the debounce is over. */
export function gatherEntry(
  environmentId: EnvironmentId,
  functionNo: FunctionNo,
  { key, dueAt, since }: NonNullable<FunctionStartChange["gather"]>,
): EntryWrite {
  return {
    environmentId,
    functionNo,
    dueAt,
    rank: dueAt,
    kind: "gather",
    lane: TIMER_LANE,
    subject: key,
    runNo: null,
    stepId: null,
    attempt: 0,
    eventSequence: since,
  };
}

/** Functions that a run defers: stored as steps while it runs, and started by an internal event when it has ended. */

import { type EventIdGenerator, jsonMembers, type StepId, settleSessions } from "@inlet/protocol";
import type { NewEvent, RunState, StepRecord, StepWrite } from "../../store/contract/index.ts";
import { emittedBy } from "./emitted-by.ts";
import { invokedData } from "./invoked-data.ts";
import type { Operation } from "./operations.ts";

export const DEFERRED_MAX = 20;
const DEFERRED_EVENT = "inngest/deferred.schedule";

type Known = Pick<StepRecord, "id" | "kind">;

/** The writes for these operations: new deferrals once, and aborted ones. A sentence if there are too many. */
export function deferredSteps(
  known: readonly (Known & Partial<StepRecord>)[],
  operations: readonly Operation[],
  now: number,
): StepWrite[] | string {
  const added = operations
    .filter(({ op, id }) => op === "deferadd" && !known.some((step) => step.id === id))
    .map(({ id, displayName, optsText }): StepWrite => {
      const open = { status: "running", startedAt: now, endedAt: null, attempts: 0, until: null } as const;
      return { id, kind: "defer", name: displayName, ...open, detail: optsText };
    });
  const all = [...known.filter(({ kind }) => kind === "defer"), ...added];
  if (all.length > DEFERRED_MAX) return `the run defers more than ${DEFERRED_MAX} functions.`;
  const dropped = new Set(operations.filter(({ op }) => op === "deferabort").map(({ opts }) => opts.target_hashed_id as StepId));
  const again = known.filter(({ id, kind }) => kind === "defer" && dropped.has(id)) as StepRecord[];
  return [...added, ...again].map((step) => (dropped.has(step.id) ? { ...step, detail: null } : step));
}

/** The events that start the functions that a run deferred. */
export function deferredEvents(state: RunState, parentId: string, eventIds: EventIdGenerator, now: number): NewEvent[] {
  const { run, steps } = state;
  return steps.flatMap((step): NewEvent[] => {
    if (step.kind !== "defer" || step.detail === null || step.endedAt !== null) return [];
    const member = (text: string, key: string) => {
      const found = jsonMembers(text).findLast((one) => one.key === key);
      return found ? text.slice(found.start, found.end).trim() : null;
    };
    const slug = member(step.detail, "fn_slug") ?? '""';
    const meta = member(step.detail, "meta");
    const origin = `{"fn_slug":${slug},"parent_fn_slug":${JSON.stringify(parentId)},"parent_run_id":${JSON.stringify(run.id)}}`;
    return [
      {
        id: eventIds.next(now),
        name: DEFERRED_EVENT,
        ts: now,
        dedupId: `${run.id}.${step.id}`,
        data: invokedData(member(step.detail, "input"), origin),
        extras: meta?.startsWith("{") ? settleSessions(`{"meta":${meta}}`) : null,
        ...emittedBy(state),
      },
    ];
  });
}

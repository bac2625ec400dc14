/**
 * The phases of a run or a step: waiting in the queue, execution, waiting for a retry, sleeping, and waiting for an event or
 * another run. Computed from the calls and failed attempts that the service recorded. Phases never overlap and are in order.
 */

import type { Run, RunCall, RunStep } from "../api/types.ts";

export type PhaseKind = "queue" | "execute" | "failed" | "retry" | "sleep" | "wait";

export interface Phase {
  kind: PhaseKind;
  /** Milliseconds. */
  from: number;
  to: number;
  /** Counted from 1; for executions only. */
  attempt?: number;
  error?: string;
}

export const PHASE_LABELS: Readonly<Record<PhaseKind, string>> = {
  queue: "Queue wait",
  execute: "Execution",
  failed: "Failed execution",
  retry: "Retry wait",
  sleep: "Sleep",
  wait: "Waiting",
};

/** The phases of the function itself: its calls, and the waits between them. */
export function runPhases(run: Run, now: number): Phase[] {
  const end = run.endedAt === null ? now : Date.parse(run.endedAt);
  const pauses = run.steps.flatMap((step) => pauseOf(step, now));
  const phases: Phase[] = [];
  let at = Date.parse(run.createdAt);
  let last: RunCall | undefined;
  for (const call of run.calls.toSorted((a, b) => Date.parse(a.startedAt) - Date.parse(b.startedAt))) {
    const [from, to] = [Date.parse(call.startedAt), Math.min(Date.parse(call.endedAt), end)];
    // A failure that is not retried is followed by a call without a number of attempts.
    if (from > at) phases.push(...gap({ from: at, to: from }, pauses, last?.outcome === "error" && call.attempt > 0));
    if (to > at) phases.push(executionOf(run, call, Math.max(from, at), to));
    at = Math.max(at, to);
    last = call;
  }
  // A run that failed ended with its last call, apart from the time it took to store that.
  if (end > at && run.status !== "failed") phases.push(...gap({ from: at, to: end }, pauses, isToBeRetried(run, last)));
  return phases.filter(({ from, to }) => to > from);
}

/** Whether the last call failed, and not because a step failed for good, which the function is told at once. */
function isToBeRetried({ steps }: Run, last: RunCall | undefined): boolean {
  if (last?.outcome !== "error") return false;
  return !steps.some(({ status, endedAt }) => status === "failed" && endedAt !== null && endedAt >= last.startedAt);
}

function executionOf(run: Run, call: RunCall, from: number, to: number): Phase {
  if (call.outcome === "ok") return { kind: "execute", from, to, attempt: call.attempt + 1 };
  const failure = run.attempts.find(({ startedAt }) => startedAt === call.startedAt);
  return { kind: "failed", from, to, attempt: call.attempt + 1, ...(failure?.error && { error: failure.error.message }) };
}

/** The time between two calls: sleeps and waits first; the rest is a retry wait after a failure, otherwise a wait in the queue. */
function gap({ from, to }: { from: number; to: number }, pauses: readonly Phase[], afterError: boolean): Phase[] {
  const phases: Phase[] = [];
  let at = from;
  const rest = (until: number) => {
    if (until > at) phases.push({ kind: afterError ? "retry" : "queue", from: at, to: until });
    at = Math.max(at, until);
  };
  for (const pause of pauses.toSorted((a, b) => a.from - b.from)) {
    const until = Math.min(pause.to, to);
    if (until <= at || pause.from >= to) continue;
    rest(pause.from);
    phases.push({ ...pause, from: at, to: until });
    at = until;
  }
  rest(to);
  return phases;
}

/** Steps during which nothing is executed. */
const PAUSES: ReadonlySet<string> = new Set(["sleep", "wait", "signal", "approval", "invoke"]);

/** A sleep ends at its time; from then until the run continues is a wait in the queue. */
function pauseOf({ kind, startedAt, endedAt, until }: RunStep, now: number): Phase[] {
  if (startedAt === null || !PAUSES.has(kind)) return [];
  const end = endedAt === null ? now : Date.parse(endedAt);
  const to = kind === "sleep" && until !== null ? Math.min(end, Date.parse(until)) : end;
  return [{ kind: kind === "sleep" ? "sleep" : "wait", from: Date.parse(startedAt), to }];
}

export function stepPhases(run: Run, step: RunStep, now: number): Phase[] {
  if (step.startedAt === null) return [];
  const end = step.endedAt === null ? Math.max(now, Date.parse(step.startedAt)) : Date.parse(step.endedAt);
  const pauses = pauseOf(step, end);
  const phases = pauses.length > 0 ? pauses : executionsOf(run, step);
  return withGaps(phases, Date.parse(step.startedAt), end, step.endedAt === null);
}

/** The failed attempts, and the execution that ended the step. */
function executionsOf(run: Run, step: RunStep): Phase[] {
  const failed = run.attempts
    .filter(({ stepId }) => stepId === step.id)
    .map(({ startedAt, endedAt, attempt, error }): Phase => {
      const from = Date.parse(startedAt);
      return {
        kind: "failed",
        from,
        to: endedAt === null ? from : Date.parse(endedAt),
        attempt: attempt + 1,
        ...(error && { error: error.message }),
      };
    })
    .toSorted((a, b) => a.from - b.from);
  const last = failed.at(-1)?.to ?? Number.NEGATIVE_INFINITY;
  const end = step.endedAt === null ? null : Date.parse(step.endedAt);
  // A step that failed permanently ended with its last failed attempt, apart from the time it took to store that.
  if (end === null || step.status === "failed") return failed;
  const from = Math.max(callOf(run, step, end), Date.parse(step.startedAt ?? run.createdAt), last);
  return [...failed, { kind: "execute", from, to: end, attempt: failed.length + 1 }];
}

/** When the call began in which the step ended; the step's own call takes precedence over one of the whole function. */
function callOf({ calls }: Run, { id }: RunStep, end: number): number {
  const within = calls.filter((call) => Date.parse(call.startedAt) <= end && end <= Date.parse(call.endedAt));
  const call = within.find(({ stepId }) => stepId === id) ?? within.find(({ stepId }) => stepId === null);
  return call ? Date.parse(call.startedAt) : Number.NEGATIVE_INFINITY;
}

/** Before an execution there is a wait in the queue, after a failed one a wait for the retry. */
function withGaps(phases: readonly Phase[], from: number, to: number, isOpen: boolean): Phase[] {
  const all: Phase[] = [];
  let at = from;
  for (const phase of phases) {
    if (phase.from > at) all.push({ kind: all.at(-1)?.kind === "failed" ? "retry" : "queue", from: at, to: phase.from });
    all.push(phase);
    at = Math.max(at, phase.to);
  }
  const last = all.at(-1)?.kind;
  if (to > at && (isOpen || last === "sleep"))
    all.push({ kind: last === "failed" ? "retry" : last === undefined ? "execute" : "queue", from: at, to });
  return all.filter((phase) => phase.to > phase.from || phase.attempt !== undefined);
}

/** The total duration of each kind of phase. */
export function totalsOf(phases: readonly Phase[]): Map<PhaseKind, number> {
  const totals = new Map<PhaseKind, number>();
  for (const { kind, from, to } of phases) totals.set(kind, (totals.get(kind) ?? 0) + (to - from));
  return totals;
}

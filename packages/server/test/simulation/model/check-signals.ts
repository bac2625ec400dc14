/**
 * One run waits for a signal, and gets the first that is sent to it. A signal that was taken is not lost, and reaches one step. A run fails
 * only because another waits for the same signal.
 */

import type { RunDetails } from "../../../src/store/contract/index.ts";
import type { DecisionValue } from "../interpret.ts";
import { type Code, codeNodes, signalName } from "../scenario.ts";
import type { Evidence } from "./evidence.ts";

type Fault = (message: string) => void;
type StepDetails = RunDetails["steps"][number];

interface SignalValue {
  data?: { signal: string; data: { no: number } | DecisionValue };
}

export function checkSignal(
  evidence: Evidence,
  run: RunDetails,
  step: StepDetails,
  { signal }: Extract<Code, { kind: "signal" }>,
  fault: Fault,
): void {
  const value = JSON.parse(step.value ?? "null") as SignalValue | null;
  if (value === null) {
    if ((step.endedAt ?? 0) < (step.until ?? 0)) fault("a wait for a signal timed out too early");
  } else if (value.data?.signal !== signalName(signal, evidence.dataOf(run).k)) fault("a wait holds another signal");
}

/** The run failed because another one waited for its signal. */
export function checkConflict(evidence: Evidence, run: RunDetails, fault: Fault): void {
  const mayFail = codeNodes(evidence.codeOf(run)).some((code) => code.kind === "signal" && code.onConflict === "fail");
  const waits = run.steps.filter(({ kind, endedAt }) => kind === "signal" && endedAt === null);
  if (!mayFail || !waits.some((step) => hasRival(evidence, run, step))) fault("failed for a signal that nobody else waited for");
}

function hasRival(evidence: Evidence, run: RunDetails, { id, detail, startedAt }: StepDetails): boolean {
  return evidence.played.runs.some((other) =>
    other.steps.some((step) => {
      if (step.kind !== "signal" || step.detail !== detail || (step.id === id && other.id === run.id)) return false;
      const over = step.endedAt ?? other.endedAt ?? Number.POSITIVE_INFINITY;
      return step.startedAt <= (run.endedAt ?? 0) + evidence.jumbleMs && over >= startedAt - evidence.jumbleMs;
    }),
  );
}

/** Every signal that the service took. */
export function checkSignals(evidence: Evidence, fault: Fault): void {
  const received = new Map<number, number>();
  const ownSteps = (run: RunDetails) => run.steps.filter((step) => !evidence.isGiven(run, step));
  for (const step of evidence.played.runs.flatMap(ownSteps)) {
    const no = step.kind === "signal" ? numberIn(step) : null;
    if (no !== null) received.set(no, (received.get(no) ?? 0) + 1);
  }
  for (const [no, times] of received) if (times > 1) fault(`signal ${no} reached ${times} steps`);
  for (const { signal, runId, no } of evidence.played.journal.signals) {
    const run = evidence.runWithId(runId);
    const steps = run?.steps.filter(({ kind, detail }) => kind === "signal" && detail === signal) ?? [];
    const isIn = steps.some((step) => numberIn(step) === no);
    // What waited may have been overtaken by the end of its run.
    if (!isIn && !steps.some(({ endedAt }) => endedAt === null)) fault(`signal ${no} was taken for run ${runId}, which never got it`);
  }
}

function numberIn({ value }: StepDetails): number | null {
  const data = (JSON.parse(value ?? "null") as SignalValue | null)?.data?.data;
  return data && "no" in data ? data.no : null;
}

/**
 * An approval is decided at most once, and whoever decided it is told so. The step that waits gets that decision, once, and nothing else; it
 * gets none only if none was made in time. An approval ends with its decision, its time or its run. One event reports each request, and one
 * each decision.
 */

import { type Approval, approvalStatus, type RunDetails } from "../../../src/store/contract/index.ts";
import type { DecisionValue } from "../interpret.ts";
import type { DecisionNote } from "../journal-notes.ts";
import { removes } from "../scenario.ts";
import { now } from "../virtual-time.ts";
import type { Evidence } from "./evidence.ts";

type Fault = (message: string) => void;
type StepDetails = RunDetails["steps"][number];

const REQUESTED = "inlet/approval.requested";
const DECIDED = "inlet/approval.decided";

export function checkApprovals(evidence: Evidence, fault: Fault): void {
  const { journal, approvals } = evidence.played;
  const received = receivedDecisions(evidence);
  for (const [no, steps] of received) if (steps.length > 1) fault(`decision ${no} reached ${steps.length} steps`);
  const notes = Map.groupBy(journal.decisions, ({ approvalId }) => approvalId);
  for (const [id, made] of notes) {
    const decided = made.filter(({ outcome }) => outcome === "decided");
    if (decided.length > 1) fault(`approval ${id} was decided ${decided.length} times`);
  }
  for (const approval of approvals) {
    const told = (message: string) => fault(`approval ${approval.id} of ${approval.signal ?? "a step"} (${approval.status}) ${message}`);
    const made = notes.get(approval.id) ?? [];
    const stored = checkDecision(approval, made, told);
    if (stored) checkReceived(evidence, approval, stored, received.get(stored.no) ?? [], told);
    checkEnd(evidence, approval, told);
    checkReports(evidence, approval, stored, told);
  }
  checkKept(evidence, received, fault);
}

/** The decision that is stored; null: there is none. */
function checkDecision(approval: Approval, made: readonly DecisionNote[], fault: Fault): DecisionNote | null {
  const { status, decisionData, by, endedAt, expiresAt } = approval;
  const decided = made.find(({ outcome }) => outcome === "decided");
  if (status !== "approved" && status !== "rejected") {
    if (decided) fault(`lost decision ${decided.no}`);
    return null;
  }
  const no = (JSON.parse(decisionData ?? "{}") as { no?: number }).no;
  const stored = made.find((note) => note.no === no);
  if (!stored) {
    fault(`has a decision that nobody made: ${decisionData}`);
    return null;
  }
  if (stored.decision !== status || stored.by !== by) fault(`was ${stored.decision} by ${stored.by}, and is stored as ${status} by ${by}`);
  if (stored.outcome === "ended") fault(`holds decision ${stored.no}, whose author was told that it came too late`);
  if (decided && decided !== stored) fault(`holds decision ${stored.no}, and decision ${decided.no} was told to be the one`);
  if ((endedAt ?? 0) >= expiresAt) fault(`was decided ${(endedAt ?? 0) - expiresAt} ms after its end`);
  return stored;
}

/** The step that it was given to; what waited may have been overtaken by the end of its run. */
function checkReceived(evidence: Evidence, approval: Approval, { no }: DecisionNote, received: readonly Received[], fault: Fault): void {
  const { run: waiting, signal } = approval;
  if (received.some(({ run }) => waiting && run.id !== waiting.id && !evidence.isGone(run, null)))
    fault(`was decided for run ${waiting?.id}, and another got decision ${no}`);
  if (signal !== null || received.length > 0 || !waiting) return;
  const run = evidence.runWithId(waiting.id);
  const step = run?.steps.find(({ detail }) => detail === approval.id);
  if (run && step?.endedAt !== null) fault(`was decided, and its step has ended with ${step?.value}`);
}

function checkEnd(evidence: Evidence, { status, expiresAt, endedAt, run: waiting, signal }: Approval, fault: Fault): void {
  const run = waiting && evidence.runWithId(waiting.id);
  if (signal === null && !waiting) fault("belongs to no run");
  if (!run || run.endedAt === null) return;
  if (approvalStatus({ status, expiresAt }, now()) === "open") fault(`is open, and run ${run.id} has ended`);
  if (status === "cancelled" && (endedAt ?? 0) + evidence.jumbleMs < run.endedAt)
    fault(`was cancelled ${run.endedAt - (endedAt ?? 0)} ms before its run ended`);
}

/** One event for the request, unless the run that asks was started by such an event, and one for the decision. */
function checkReports(evidence: Evidence, approval: Approval, decided: DecisionNote | null, fault: Fault): void {
  if (removes(evidence.played.scenario)) return;
  const reports = (name: string) =>
    evidence.played.events
      .filter((event) => event.name === name && event.data.includes(`"id":"${approval.id}"`))
      .map(({ data }) => JSON.parse(data) as { runId: string | null; data: { no?: number } });
  const requested = reports(REQUESTED).length;
  if (requested !== 1) fault(`was reported ${requested} times`);
  const told = reports(DECIDED);
  if (told.length !== (decided ? 1 : 0)) fault(`has ${told.length} reports of its decision`);
  if (decided && told[0]?.data.no !== decided.no) fault(`has a report of decision ${told[0]?.data.no} instead of ${decided.no}`);
}

/** A step that begins to wait for a signal gets the decision that is kept for it. */
function checkKept(evidence: Evidence, received: ReadonlyMap<number, readonly Received[]>, fault: Fault): void {
  const { approvals, runs } = evidence.played;
  for (const approval of approvals) {
    const { signal, endedAt, decisionData, run } = approval;
    if (signal === null || decisionData === null || endedAt === null) continue;
    const { no } = JSON.parse(decisionData) as { no: number };
    if ((received.get(no) ?? []).length > 0) continue;
    const isLate = ({ kind, detail, startedAt, endedAt: over }: StepDetails) =>
      kind === "signal" && detail === signal && over !== null && startedAt > endedAt + evidence.jumbleMs && startedAt < approval.expiresAt;
    // Of a decision that a run was to get, only that run is judged: it ends with the run.
    const waited = runs.find(({ id, steps }) => (run === null || run.id === id) && steps.some(isLate));
    if (waited) fault(`${evidence.describe(waited)} waited for ${signal}, and never got decision ${no}, which was kept for it`);
  }
}

/** A step of `step.waitForApproval` that has ended. */
export function checkAsked(evidence: Evidence, run: RunDetails, step: StepDetails, fault: Fault): void {
  const value = decisionIn(step);
  const { decisions } = evidence.played.journal;
  if (value === null) {
    if ((step.endedAt ?? 0) < (step.until ?? 0)) fault("a question to a person timed out too early");
    const made = decisions.find(({ approvalId, outcome }) => approvalId === step.detail && outcome === "decided");
    if (made) fault(`a question to a person timed out, and decision ${made.no} was made`);
    return;
  }
  const made = decisions.find(({ no }) => no === value.data.no);
  if (made?.approvalId !== step.detail) fault("a step holds the decision of another approval");
  else if (made.decision !== value.decision || made.by !== value.by) fault("a step holds another decision than was made");
  else if (made.outcome === "ended") fault("a step holds a decision that was refused");
  void run;
}

interface Received {
  run: RunDetails;
  step: StepDetails;
}

/** By the number of the decision: the steps that got it, without those of reruns that were given it. */
function receivedDecisions(evidence: Evidence): Map<number, Received[]> {
  const all = evidence.played.runs.flatMap((run) =>
    run.steps.filter((step) => !evidence.isGiven(run, step)).map((step) => ({ run, step, no: decisionIn(step)?.data.no })),
  );
  const received = new Map<number, Received[]>();
  for (const { no, ...step } of all) if (no !== undefined) received.set(no, [...(received.get(no) ?? []), step]);
  return received;
}

function decisionIn({ kind, value }: StepDetails): DecisionValue | null {
  if (value === null) return null;
  if (kind === "approval") return (JSON.parse(value) as { data?: DecisionValue } | null)?.data ?? null;
  if (kind !== "signal") return null;
  const data = (JSON.parse(value) as { data?: { data?: { no: number } | DecisionValue } } | null)?.data?.data;
  return data && "decision" in data ? data : null;
}

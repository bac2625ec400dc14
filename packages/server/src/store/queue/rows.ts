/** Converts a row of the queue to the entry that a node claims. */

import type { EntryNo, EnvironmentId, FunctionNo, LeaseId, RunNo, StepId } from "@inlet/protocol";
import type { ClaimedEntry, EntryKind, WaitOutcome } from "../contract/index.ts";

export const QUEUE_COLUMNS = `
  entry_no, environment_id, lane, home_lane, rank, home_rank, due_at, kind, run_no, function_no, step_id, attempt, claims, calling_probes,
  concluding_probes, subject, event_no, ended_run_no, outcome`;

export interface QueueRow {
  entry_no: EntryNo;
  environment_id: EnvironmentId;
  lane: string;
  home_lane: string;
  rank: number;
  home_rank: number;
  due_at: number;
  kind: EntryKind;
  run_no: RunNo | null;
  function_no: FunctionNo;
  step_id: string;
  attempt: number;
  claims: number;
  calling_probes: number;
  concluding_probes: number;
  subject: string | null;
  event_no: number | null;
  ended_run_no: RunNo | null;
  outcome: string | null;
}

export function toClaimed(row: QueueRow, leaseId: LeaseId, leasedUntil: number): ClaimedEntry {
  return {
    no: row.entry_no,
    leaseId,
    leasedUntil,
    kind: row.kind,
    environmentId: row.environment_id,
    lane: row.home_lane,
    rank: row.kind === "call" ? row.home_rank : row.rank,
    dueAt: row.due_at,
    runNo: row.run_no,
    functionNo: row.function_no,
    stepId: (row.step_id || null) as StepId | null,
    attempt: row.attempt,
    claims: row.claims + 1,
    probes: { calling: row.calling_probes, concluding: row.concluding_probes },
    subject: row.subject,
    eventSequence: row.event_no,
    endedRunNo: row.ended_run_no,
    outcome: row.outcome === null ? null : (JSON.parse(row.outcome) as WaitOutcome),
  };
}

/** Rows of approvals in PostgreSQL that a group writes: with the runs that ask, the waits that decisions end, and the ends of runs. */

import type { RunNo, StepId } from "@inlet/protocol";
import type { Approval, ApprovalStatus } from "../../contract/index.ts";
import { insertInto, jsonRows } from "../../postgres/json-rows.ts";
import type { PendingWrites } from "../../postgres/pending-writes.ts";
import { type Arrival, makeDue } from "../../queue/postgres/queue-entries.ts";
import { dropWaits } from "../../waits/postgres/waits.ts";
import { answerValue, keptDecision, statusAtEnd } from "../policy.ts";
import { type ApprovalRow, NEW_APPROVAL_COLUMNS, newApprovalRow, toApproval } from "../rows.ts";

export const INSERT = insertInto("approvals", NEW_APPROVAL_COLUMNS);
/** The number selects the run's partition. */
const LINK = `
  UPDATE approvals SET run_no = r.run_no, run_id = r.run_id, function_no = r.function_no, step_id = $4
  FROM runs AS r WHERE r.environment_id = $1 AND r.run_no = ANY ($3::bigint[])
    AND approvals.environment_id = $1 AND wait_name = $2 AND is_pending = 1
  RETURNING approvals.*`;
const DELIVERED = "UPDATE approvals SET is_pending = 0 WHERE environment_id = $1 AND approval_id = $2";
const PENDING_OF_RUNS = `
  SELECT * FROM approvals WHERE environment_id = $1 AND run_no = ANY ($2::bigint[]) AND is_pending = 1 ORDER BY approval_id FOR UPDATE`;
const END = `
  UPDATE approvals SET status = $3, ended_at = coalesce(ended_at, $4), is_pending = 0 WHERE environment_id = $1 AND approval_id = $2`;

export function insertApprovals(writes: PendingWrites): void {
  const { environmentId, approvalsAdded } = writes;
  if (approvalsAdded.length === 0) return;
  writes.send(INSERT, jsonRows(approvalsAdded.map(({ run, approval }) => newApprovalRow(environmentId, approval, run))));
}

/** The approval that the step under this name is answered by now names the step. */
export async function linkApproval(writes: PendingWrites, waitName: string, runNo: RunNo, stepId: StepId): Promise<Approval | null> {
  const [row] = await writes.rows<ApprovalRow>(LINK, writes.environmentId, waitName, [runNo], stepId);
  return row ? toApproval(row) : null;
}

/** Decisions that were made before their steps wait are given to these at once. Their entries have been written. */
export async function answerSignals(writes: PendingWrites, taken: PendingWrites["signalsAdded"]): Promise<void> {
  for (const added of writes.signalsAdded) {
    const { allocation, runNo, wait } = added;
    if (wait.stepId === null || taken.includes(added)) continue;
    const approval = await linkApproval(writes, wait.eventName, runNo, wait.stepId);
    const kept = approval && keptDecision(approval);
    if (!approval || !kept) continue;
    const outcome = { value: answerValue(approval, kept) };
    const arrival: Arrival = { allocation, runNo, stepId: wait.stepId, eventSequence: null, endedRunNo: null, outcome };
    const due = await makeDue(writes, [arrival]);
    dropWaits(writes, due);
    if (due.length > 0) writes.send(DELIVERED, writes.environmentId, approval.id);
  }
}

/** Nobody waits for the approvals of ended runs any more. */
export async function endApprovals(writes: PendingWrites): Promise<void> {
  const { environmentId, approvalsEnded } = writes;
  if (approvalsEnded.length === 0) return;
  const endedAt = new Map(approvalsEnded.map(({ runNo, now }) => [runNo, now]));
  const rows = await writes.rows<ApprovalRow>(PENDING_OF_RUNS, environmentId, [...endedAt.keys()]);
  for (const approval of rows.map(toApproval)) {
    const now = endedAt.get(approval.run?.no as RunNo) as number;
    endApproval(writes, approval, statusAtEnd(approval, now), Math.min(now, approval.expiresAt));
  }
}

export function endApproval(writes: PendingWrites, { id }: Approval, status: ApprovalStatus, at: number): void {
  writes.send(END, writes.environmentId, id, status, at);
}

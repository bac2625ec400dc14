/** Rows of the approvals table, as both engines write and read them. */

import { type EnvironmentId, type EventId, type FunctionNo, type RunId, type RunNo, type StepId, YEAR_MS } from "@inlet/protocol";
import type { RunRecord } from "../contract/index.ts";
import { PAGE_BYTES_MAX, sliceWithin } from "../shared/byte-bounds.ts";
import { type Approval, type ApprovalStatus, approvalWaitName, type NewApproval } from "./contract.ts";

export interface ApprovalRow {
  environment_id: number;
  approval_id: string;
  wait_name: string;
  signal: string | null;
  status: string;
  is_pending: number;
  prompt: string;
  data: string;
  confirms_reject: number;
  run_no: number | null;
  run_id: string | null;
  function_no: number | null;
  step_id: string | null;
  created_at: number;
  expires_at: number;
  ended_at: number | null;
  decided_by: string | null;
  comment: string | null;
  decision_data: string | null;
  request_event_id: string;
  decision_event_id: string | null;
}

/** Those of a new row, in the order of `newApprovalColumns`. */
export const NEW_APPROVAL_COLUMNS = {
  environment_id: "integer",
  approval_id: "text",
  wait_name: "text",
  signal: "text",
  status: "text",
  is_pending: "smallint",
  prompt: "text",
  data: "text",
  confirms_reject: "smallint",
  run_no: "bigint",
  run_id: "text",
  function_no: "integer",
  step_id: "text",
  created_at: "bigint",
  expires_at: "bigint",
  request_event_id: "text",
} as const;

export type WaitingRunOf = Pick<RunRecord, "no" | "id" | "functionNo">;

export function newApprovalRow(environmentId: EnvironmentId, approval: NewApproval, run: WaitingRunOf | null) {
  return {
    environment_id: environmentId,
    approval_id: approval.id,
    wait_name: approvalWaitName(approval),
    signal: approval.signal,
    status: "open",
    is_pending: 1,
    prompt: approval.prompt,
    data: approval.data,
    confirms_reject: approval.confirmsReject ? 1 : 0,
    run_no: run?.no ?? null,
    run_id: run?.id ?? null,
    function_no: run?.functionNo ?? null,
    step_id: approval.stepId,
    created_at: approval.createdAt,
    expires_at: approval.expiresAt,
    request_event_id: approval.requestEventId,
  };
}

export function toApproval(row: ApprovalRow): Approval {
  const { run_no, run_id, function_no } = row;
  return {
    id: row.approval_id,
    environmentId: row.environment_id as EnvironmentId,
    signal: row.signal,
    status: row.status as ApprovalStatus,
    prompt: row.prompt,
    data: row.data,
    confirmsReject: row.confirms_reject === 1,
    run: run_no === null ? null : { no: run_no as RunNo, id: run_id as RunId, functionNo: function_no as FunctionNo },
    stepId: row.step_id as StepId | null,
    createdAt: row.created_at,
    expiresAt: row.expires_at,
    endedAt: row.ended_at,
    by: row.decided_by,
    comment: row.comment,
    decisionData: row.decision_data,
    requestEventId: row.request_event_id as EventId,
    decisionEventId: row.decision_event_id as EventId | null,
  };
}

/** One page of rows that were read in its order, one more than it may have: as many as its size allows. */
export function approvalPage(rows: readonly ApprovalRow[], limit: number): { approvals: Approval[]; next: string | null } {
  const page = sliceWithin(rows.slice(0, limit), limit, PAGE_BYTES_MAX, bytesOf).rows;
  return { approvals: page.map(toApproval), next: rows.length > page.length ? (page.at(-1)?.approval_id ?? null) : null };
}

function bytesOf({ prompt, data, comment, decision_data }: ApprovalRow): number {
  return prompt.length + data.length + (comment?.length ?? 0) + (decision_data?.length ?? 0);
}

/** Those that ended until then. A decision that is kept for a run outlasts every timeout that a run may have. */
export function endedCondition(until: number): { text: string; values: number[] } {
  const end = "coalesce(ended_at, expires_at)";
  return { text: `${end} <= ? AND (is_pending = 0 OR status = 'open' OR ${end} <= ?)`, values: [until, until - YEAR_MS] };
}

/** The conditions for rows with this status, in the SQL of both engines: each is a range of an index. */
export function statusRanges(status: ApprovalStatus | undefined, now: number): { text: string; values: (number | string)[] }[] {
  if (status === undefined) return [{ text: "true", values: [] }];
  if (status === "open") return [{ text: "status = 'open' AND expires_at > ?", values: [now] }];
  const stored = { text: "status = ?", values: [status] };
  return status === "expired" ? [stored, { text: "status = 'open' AND expires_at <= ?", values: [now] }] : [stored];
}

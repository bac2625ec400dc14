/**
 * Approvals: questions to people. A decision answers the step that waits for it. The step is one of `step.waitForApproval`, or one that waits
 * for the signal that the approval names. Like a signal, a decision changes no run by itself: it makes the entry of the waiting step due,
 * in the transaction that stores the decision. A decision that no step waits for yet is kept for the first that does.
 *
 *   open ──▶ approved | rejected          a decision was made
 *     ├────▶ expired                      its time was over first
 *     └────▶ cancelled                    the run that waited for it ended first
 */

import { canonicalJson, type EnvironmentId, type EventId, type FunctionNo, type RunId, type RunNo, type StepId } from "@inlet/protocol";
import type { EventBatch } from "../events/contract.ts";
import type { ClaimedEntry, Lease } from "../queue/contract.ts";
import { signalEventName } from "../signals/contract.ts";

/** The event that asks people. */
export const APPROVAL_REQUESTED = "inlet/approval.requested";
export const APPROVAL_STATUSES = ["open", "approved", "rejected", "expired", "cancelled"] as const;
export type ApprovalStatus = (typeof APPROVAL_STATUSES)[number];
export const DECISIONS = ["approved", "rejected"] as const;
export type ApprovalDecision = (typeof DECISIONS)[number];

export const PROMPT_UNITS_MAX = 2_000;
export const COMMENT_UNITS_MAX = 2_000;
/** Of the JSON text of `data`, of a request and of a decision. */
export const APPROVAL_DATA_UNITS_MAX = 65_536;

/** The text as it was written, or, if that is beyond the limit, compact: neither space nor escapes such as `\u00fc` count then. */
export function approvalData(json: string): string {
  return json.length <= APPROVAL_DATA_UNITS_MAX ? json : canonicalJson(json, { exactNumbers: true });
}

/** The event name under which the wait of `step.waitForApproval` is stored. No event and no signal has such a name. */
export function approvalEventName(id: string): string {
  return `\u0002${id}`;
}

export interface NewApproval {
  id: string;
  /** The signal it answers; null: the step that asks, which waits under `approvalEventName`. */
  signal: string | null;
  /** The step that asks; null for a signal. */
  stepId: StepId | null;
  prompt: string;
  /** JSON text. */
  data: string;
  /** Whether the page asks for confirmation before it rejects. */
  confirmsReject: boolean;
  createdAt: number;
  expiresAt: number;
  /** The event that reports the request. */
  requestEventId: EventId;
}

/** The event name under which the step that it answers waits. */
export function approvalWaitName({ id, signal }: Pick<NewApproval, "id" | "signal">): string {
  return signal === null ? approvalEventName(id) : signalEventName(signal);
}

export interface Approval extends NewApproval {
  environmentId: EnvironmentId;
  /** As stored: an open one whose time is over has expired. */
  status: ApprovalStatus;
  /** The run that waits, or waited, for it; null: none has yet. */
  run: { no: RunNo; id: RunId; functionNo: FunctionNo } | null;
  endedAt: number | null;
  /** Who decided. */
  by: string | null;
  comment: string | null;
  /** JSON text that came with the decision. */
  decisionData: string | null;
  /** The event that reports the decision. */
  decisionEventId: EventId | null;
}

/** An open approval whose time is over has expired, whether or not that is stored. */
export function approvalStatus({ status, expiresAt }: Pick<Approval, "status" | "expiresAt">, now: number): ApprovalStatus {
  return status === "open" && expiresAt <= now ? "expired" : status;
}

export interface MadeDecision {
  decision: ApprovalDecision;
  by: string;
  comment: string | null;
  /** JSON text. */
  data: string;
}

export interface ApprovalRequestParams {
  environmentId: EnvironmentId;
  approval: NewApproval;
  now: number;
  lease: Lease;
  /**
   * The event that reports it. `runId`: the run that waits for the signal already. May be called more than once,
   * and has the id that the approval names.
   */
  event(runId: RunId | null): EventBatch;
}

export interface ApprovalDecideParams {
  environmentId: EnvironmentId;
  id: string;
  made: MadeDecision;
  now: number;
  lease: Lease;
  /** The event that reports the decision. May be called more than once, and has the same id each time. */
  event(approval: Approval): EventBatch;
}

export interface ApprovalDecided {
  /** `ended`: it was not open any more, and nothing has changed. */
  outcome: "decided" | "ended" | "unknown";
  approval: Approval | null;
  leased: ClaimedEntry[];
}

export interface ApprovalListParams {
  environmentId: EnvironmentId;
  now: number;
  limit: number;
  status?: ApprovalStatus;
  /** The last id of the page before. */
  after?: string;
}

export interface ApprovalStore {
  /** Null if an approval of the same signal is open, or its decision is kept: nothing was written. */
  approvalRequest(params: ApprovalRequestParams): Promise<{ approval: Approval | null; leased: ClaimedEntry[] }>;
  /** An approval is decided once. */
  approvalDecide(params: ApprovalDecideParams): Promise<ApprovalDecided>;
  approvalGet(params: { environmentId: EnvironmentId; id: string }): Promise<Approval | null>;
  /** In any environment. */
  approvalFind(params: { id: string }): Promise<Approval | null>;
  /** Newest first. */
  approvalList(params: ApprovalListParams): Promise<{ approvals: Approval[]; next: string | null }>;
  /** How many are open, counted up to `limit`. */
  approvalCountOpen(params: { environmentId: EnvironmentId; now: number; limit: number }): Promise<number>;
  /** Oldest first. */
  approvalsOfRun(params: { environmentId: EnvironmentId; runId: RunId }): Promise<Approval[]>;
  /** Removes those that ended until then. Returns how many. */
  approvalExpireMany(params: { environmentId?: EnvironmentId; until: number; limit: number }): Promise<number>;
}

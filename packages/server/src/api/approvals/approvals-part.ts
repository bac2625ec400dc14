/** What the routes need to request and decide approvals. */

import type { Approval, ApprovalDecided, Environment, MadeDecision, NewApproval } from "../../store/contract/index.ts";

export interface ApprovalAsked extends Pick<NewApproval, "prompt" | "data" | "confirmsReject" | "expiresAt"> {
  signal: string;
  /** The address of the service, as whoever asks reaches it. */
  baseUrl: string;
}

export interface ApprovalsPart {
  /** Null if an approval of the same signal is open, or its decision has reached no run yet. */
  request(environmentId: Environment["id"], asked: ApprovalAsked): Promise<Approval | null>;
  decide(environmentId: Environment["id"], id: string, made: MadeDecision): Promise<ApprovalDecided>;
  /** The token of its link. */
  token(id: string): string;
  /** Its status now. */
  statusOf(approval: Approval): Approval["status"];
}

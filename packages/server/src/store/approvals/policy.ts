/** What follows from a decision and from the end of a run: pure functions that both engines call. */

import { type Approval, type ApprovalStatus, approvalStatus, type MadeDecision } from "../contract/index.ts";

/** The status with which it ends together with its run. */
export function statusAtEnd(approval: Pick<Approval, "status" | "expiresAt">, now: number): ApprovalStatus {
  const status = approvalStatus(approval, now);
  return status === "open" ? "cancelled" : status;
}

/**
 * What the decision leads to. `delivered`: whether the decision could be given to a step that waits. A step
 * whose timeout is being processed takes no decision any more: an approval that it asked for itself has then expired.
 */
export function outcomeOf({ signal }: Pick<Approval, "signal">, { delivered }: { delivered: boolean }): "delivered" | "kept" | "expired" {
  if (delivered) return "delivered";
  return signal === null ? "expired" : "kept";
}

/** The result of the waiting step, as JSON text. */
export function answerValue({ signal }: Pick<Approval, "signal">, { decision, by, comment, data }: MadeDecision): string {
  const answer = `{"decision":"${decision}","by":${JSON.stringify(by)},"comment":${JSON.stringify(comment)},"data":${data}}`;
  return signal === null ? `{"data":${answer}}` : `{"data":{"signal":${JSON.stringify(signal)},"data":${answer}}}`;
}

/** The decision that is kept until a step waits for it; null: there is none. */
export function keptDecision({ status, by, comment, decisionData }: Approval): MadeDecision | null {
  if (status !== "approved" && status !== "rejected") return null;
  return { decision: status, by: by ?? "", comment, data: decisionData ?? "null" };
}

/** Whether it keeps another approval of its signal from being requested. `isPending`: it is open, or its decision is kept. */
export function holdsSignal({ isPending, expiresAt }: { isPending: boolean; expiresAt: number }, now: number): boolean {
  return isPending && expiresAt > now;
}

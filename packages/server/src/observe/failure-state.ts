/**
 * The state of a group of failures, from what was decided about it and what happened since. A resolved group is open again as soon as
 * another run fails with the same error; an ignored one stays ignored. A group whose runs were all repeated has nothing left to repair.
 */

import { createHash } from "node:crypto";
import type { FailureGroup, FailureState } from "../store/contract/index.ts";

export const FAILURE_STATES = ["open", "resolved", "ignored"] as const;
export type FailureStateName = (typeof FAILURE_STATES)[number];

export function failureStateOf(
  { count, lastAt }: Pick<FailureGroup, "count" | "lastAt">,
  decided: Pick<FailureState, "decision" | "decidedAt"> | undefined,
): FailureStateName {
  if (decided?.decision === "ignored") return "ignored";
  if (count === 0 || (decided !== undefined && lastAt <= decided.decidedAt)) return "resolved";
  return "open";
}

export function failureKey(functionId: string, pattern: string): string {
  return createHash("sha256")
    .update(JSON.stringify([functionId, pattern]))
    .digest("hex");
}

/**
 * What people decided about groups of failed runs. A group that nobody decided about is open. The text of its error is not stored: it may
 * repeat a payload, which an erasure would have to find here.
 */

import type { EnvironmentId } from "@inlet/protocol";

export const FAILURE_DECISIONS = ["resolved", "ignored"] as const;
export type FailureDecision = (typeof FAILURE_DECISIONS)[number];

export interface FailureState {
  /** A hash of the function's id and the error's pattern. */
  key: string;
  decision: FailureDecision;
  decidedAt: number;
  /** The name of the person or the API key. */
  decidedBy: string;
}

export interface FailureStateStore {
  /** In no particular order; of very many, those decided last. */
  failureStateList(params: { environmentId: EnvironmentId }): Promise<FailureState[]>;
  /** Replaces an earlier decision. */
  failureStateSet(params: FailureState & { environmentId: EnvironmentId }): Promise<void>;
  /** The group is open again. */
  failureStateDelete(params: { environmentId: EnvironmentId; key: string }): Promise<void>;
}

/** Decisions that a list returns at most. */
export const FAILURE_STATES_MAX = 10_000;

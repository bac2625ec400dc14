/**
 * Functions with an order: their runs of one key start in the order in which they were accepted, one at a time.
 *
 *   waiting ──▶ running ──▶ leaving ──▶ gone           held: the run failed, and its function holds up the key then
 *      ▲            │          ▲
 *      │            ▼          │
 *      └─ rerun ── held ─ release
 *
 * A run has a position among those of its key from its creation on, due or not. The first that waits is admitted when no other is
 * running, leaving or held. A run leaves when it has ended, and is gone when no call of it is under way any more.
 */

import type { EnvironmentId, FunctionNo, RunId, RunNo } from "@inlet/protocol";

/** A key whose later runs wait because one of its runs has failed. */
export interface OrderHold {
  functionNo: FunctionNo;
  key: string;
  /** Null when the failed run is not kept any more. */
  runId: RunId | null;
  heldAt: number;
  /** How many runs wait behind it. */
  waiting: number;
}

export interface OrderHoldListParams {
  environmentId: EnvironmentId;
  functionNos?: readonly FunctionNo[];
  limit: number;
  /** Continue after this position. */
  after?: number;
}

export interface OrderStore {
  /** In the order in which their runs were accepted. */
  orderHoldList(params: OrderHoldListParams): Promise<{ holds: OrderHold[]; next: number | null }>;
  /** The key goes on with its next run. False when this run holds up none. */
  orderRelease(params: { environmentId: EnvironmentId; runNo: RunNo }): Promise<boolean>;
}

/** Under which it is announced that a key may go on, beside limits that have free slots (limitWatch). */
export function orderId(functionNo: FunctionNo, key: string): string {
  return `order:${functionNo}:${key}`;
}

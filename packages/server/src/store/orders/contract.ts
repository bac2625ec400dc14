/**
 * Functions with an order: their runs with the same key start in the order in which they were accepted, one at a time.
 *
 *   waiting ──▶ running ──▶ leaving ──▶ gone           held: the run failed, and its function blocks the key after a failure
 *      ▲            │          ▲
 *      │            ▼          │
 *      └─ rerun ── held ─ release
 *
 * A run has a position among the runs of its key from its creation on, due or not. The first waiting run is admitted when no other is
 * running, leaving or held. A run leaves when it has ended, and is gone when none of its calls is in progress.
 */

import type { EnvironmentId, FunctionNo, RunId, RunNo } from "@inlet/protocol";

/** A key whose later runs wait because one of its runs failed. */
export interface OrderHold {
  /** The position of the failed run, which is unique in the store and never reused; a rerun takes it over. */
  position: number;
  functionNo: FunctionNo;
  /** The text of the key; null if the failed run has been removed, or its event erased. */
  key: string | null;
  /** Null if the failed run has been removed. */
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
  /** The key continues with its next run. Returns false if this run blocks none. */
  orderRelease(params: { environmentId: EnvironmentId; runNo: RunNo }): Promise<boolean>;
  /** The same by position, which works without the failed run. Returns what was on hold; null if nothing is at this position. */
  orderHoldRelease(params: { environmentId: EnvironmentId; position: number }): Promise<OrderHold | null>;
}

/** The name under which a key that may continue is announced, next to limits that have free slots (limitWatch). */
export function orderId(functionNo: FunctionNo, key: string): string {
  return `order:${functionNo}:${key}`;
}

import type { FunctionNo, RunId } from "@inlet/protocol";
import type { OrderHold } from "../contract/index.ts";

export interface HoldRow {
  position: number;
  function_no: FunctionNo;
  order_key: string | null;
  run_id: RunId | null;
  held_at: number;
  waiting: number;
}

export function toHold({ position, function_no, order_key, run_id, held_at, waiting }: HoldRow): OrderHold {
  return { position, functionNo: function_no, key: order_key, runId: run_id, heldAt: held_at, waiting };
}

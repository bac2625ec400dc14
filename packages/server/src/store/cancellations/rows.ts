/** Converts a row of the cancellations table to the contract's Cancellation. */

import type { CancellationId, EnvironmentId } from "@inlet/protocol";
import type { Cancellation } from "../contract/index.ts";

export interface CancellationRow {
  environment_id: EnvironmentId;
  cancellation_id: string;
  function_id: string;
  started_after: number | null;
  started_before: number;
  expression: string | null;
  created_at: number;
  ended_at: number | null;
}

export function toCancellation(row: CancellationRow): Cancellation {
  return {
    id: row.cancellation_id as CancellationId,
    environmentId: row.environment_id,
    functionId: row.function_id,
    startedAfter: row.started_after,
    startedBefore: row.started_before,
    expression: row.expression,
    createdAt: row.created_at,
    endedAt: row.ended_at,
  };
}

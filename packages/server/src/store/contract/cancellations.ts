/** Bulk cancellations: which runs of a function are to be cancelled, kept until every one of them was. Few rows, read whole. */

import type { CancellationId, EnvironmentId } from "@inlet/protocol";

export interface Cancellation {
  id: CancellationId;
  environmentId: EnvironmentId;
  /** `<app>-<function>`. */
  functionId: string;
  /** Runs created at or after; null: since the beginning. */
  startedAfter: number | null;
  /** Runs created before. */
  startedBefore: number;
  /** Over `event`, the event that started the run; null: every run. */
  expression: string | null;
  createdAt: number;
  /** When every run was dealt with; null while there may be others. */
  endedAt: number | null;
}

export interface CancellationStore {
  cancellationInsert(cancellation: Cancellation): Promise<void>;
  /** Newest first. */
  cancellationList(params: { environmentId: EnvironmentId }): Promise<Cancellation[]>;
  /** Those of every environment that have not ended, oldest first. */
  cancellationListOpen(): Promise<Cancellation[]>;
  /** Nothing happens to one that was deleted meanwhile. */
  cancellationEnd(params: { environmentId: EnvironmentId; id: CancellationId; endedAt: number }): Promise<void>;
  /** Null when there is no such cancellation. */
  cancellationDelete(params: { environmentId: EnvironmentId; id: CancellationId }): Promise<Cancellation | null>;
}

/** Bulk cancellations: which runs of a function are to be cancelled, stored until all of them are. Kept for a while after that. */

import type { CancellationId, EnvironmentId } from "@inlet/protocol";

export interface Cancellation {
  id: CancellationId;
  environmentId: EnvironmentId;
  /** `<app>-<function>`. */
  functionId: string;
  /** Runs created at or after this time; null: no lower bound. */
  startedAfter: number | null;
  /** Runs created before this time. */
  startedBefore: number;
  /** An expression over `event`, the event that started the run; null: every run. */
  expression: string | null;
  createdAt: number;
  /** When every run was handled; null while the cancellation is in progress. */
  endedAt: number | null;
}

export interface CancellationStore {
  cancellationInsert(cancellation: Cancellation): Promise<void>;
  cancellationGet(params: { environmentId: EnvironmentId; id: CancellationId }): Promise<Cancellation | null>;
  /** Newest first. */
  cancellationList(params: { environmentId: EnvironmentId }): Promise<Cancellation[]>;
  /** Unfinished cancellations of every environment, oldest first. */
  cancellationListOpen(): Promise<Cancellation[]>;
  /** No effect on a cancellation that has been deleted. */
  cancellationEnd(params: { environmentId: EnvironmentId; id: CancellationId; endedAt: number }): Promise<void>;
  /** Null if there is no such cancellation. */
  cancellationDelete(params: { environmentId: EnvironmentId; id: CancellationId }): Promise<Cancellation | null>;
  /** Removes at most `limit` cancellations that ended at or before `endedUntil`. Returns how many. */
  cancellationExpireMany(params: { endedUntil: number; limit: number }): Promise<number>;
}

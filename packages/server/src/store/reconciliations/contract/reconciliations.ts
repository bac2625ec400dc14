/** Passes of reconciliation: what a provider listed, and what of it had never been delivered. One for each job that ended. */

import type { EnvironmentId, JobId, WebhookId } from "@inlet/protocol";

export interface Reconciliation {
  environmentId: EnvironmentId;
  webhookId: WebhookId;
  /** The job of the pass. */
  jobId: JobId;
  /** When it ended. */
  at: number;
  /** When it was ordered: the schedule counts from here. */
  startedAt: number;
  since: number;
  until: number;
  /** It came by itself. */
  isScheduled: boolean;
  listed: number;
  seen: number;
  recovered: number;
  failed: number;
  /** Why it ended before its end. */
  error: string | null;
}

export interface ReconciliationListParams {
  environmentId: EnvironmentId;
  webhookId: WebhookId;
  limit: number;
  /** Continue after this pass. */
  after?: JobId;
}

export interface ReconciliationStore {
  /** A pass that is recorded already stays as it is. */
  reconciliationAdd(pass: Reconciliation): Promise<void>;
  /** The passes that were ordered last come first. */
  reconciliationList(params: ReconciliationListParams): Promise<{ passes: Reconciliation[]; next: JobId | null }>;
  /** When the last pass that came by itself was ordered; null: there was none. */
  reconciliationLastScheduled(params: { environmentId: EnvironmentId; webhookId: WebhookId }): Promise<number | null>;
  /** How many items the passes of an environment recovered that ended at or after `since`. */
  reconciliationRecovered(params: { environmentId: EnvironmentId; since: number }): Promise<number>;
  /** Removes at most `limit` passes that ended at or before `until`. Returns how many. */
  reconciliationExpireMany(params: { until: number; limit: number }): Promise<number>;
}
